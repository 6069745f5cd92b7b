import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createServer, type CatalographServer } from '../../compiler/server.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { openStatements } from '../../runtime/db/pool/statements.ts'
import { authOwner } from '../../runtime/auth/schema/auth-schema.ts'
import { installLive } from '../../compiler/following/prepare/install-live.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { examplesIn, readPage } from '../support/examples.ts'
import { enabled, secret, storeSettings } from '../support/auth.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'

/** The main export: the service within an application that has routes of its own. */

const root = new URL('../..', import.meta.url).pathname

describe('the service within an application', () => {
  let db: TestDatabase
  let server: CatalographServer
  let app: FastifyInstance
  let url: string
  beforeAll(async () => {
    const sql =
      "create table public.post (id int primary key, title text); grant select on public.post to anon; insert into public.post values (1, 'A')"
    db = await createDatabase({ sql, prepare: 'auth' })
    const owner = openStatements({
      url: db.ownerUrl,
      schemas: ['auth'],
      role: authOwner,
      poolSize: 1,
      statementTimeout: 0,
    })
    await storeSettings(owner.run, { ...enabled, anonymous_enabled: 'on' })
    await owner.close()
    const urls = { databaseUrl: db.url, databaseOwnerUrl: db.ownerUrl, baseUrl: 'http://127.0.0.1' }
    server = await createServer({ ...urls, jwtSecret: secret })
    app = fastify()
    app.get('/own', () => ({ mine: true }))
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      for (const path of ['/graphql/v1', '/auth/v1/*']) {
        scope.all(path, (request, reply) => {
          reply.hijack()
          server.handle(request.raw, reply.raw)
        })
      }
    })
    url = await app.listen({ host: '127.0.0.1', port: 0 })
    await server.ready
  })
  afterAll(async () => {
    await server.close()
    await app.close()
    await db.drop()
  })

  const ask = async (query: string): Promise<unknown> => {
    const headers = { apikey: projectKeys(secret).anon, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    return answer.json()
  }

  it('answers beside the routes of others, and follows the schema', async () => {
    const query = '{ postCollection { edges { node { title } } } }'
    expect(await ask(query)).toEqual({ data: { postCollection: { edges: [{ node: { title: 'A' } }] } } })
    expect(await (await fetch(`${url}/own`)).json()).toEqual({ mine: true })
    await db.query('alter table public.post rename title to name')
    expect(await ask(query)).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    })
    expect(await ask('{ postCollection { edges { node { name } } } }')).toMatchObject({ data: {} })
  })

  it('reads the bodies of auth, whose users are callers', async () => {
    const headers = { apikey: projectKeys(secret).anon, 'content-type': 'application/json' }
    const body = JSON.stringify({ data: { name: 'Guest' } })
    const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([200, { user: { user_metadata: { name: 'Guest' } } }])
  })
})

/** The arguments that the page's example requires. */
const given = 'const [databaseUrl, jwtSecret, apikey] = process.argv.slice(2)'

/** The continuation: a client of its WebSockets, which receives its writes. */
const visit = `
  import { WebSocket } from 'ws'
  await server.ready
  const at = '127.0.0.1:' + app.server.address().port + '/graphql/v1'
  const write = 'mutation { insertIntopostCollection(objects: [{id: 1, title: "new"}]) { affectedCount } }'
  const headers = { apikey, 'content-type': 'application/json' }
  const socket = new WebSocket('ws://' + at, 'graphql-transport-ws')
  const say = (message) => socket.send(JSON.stringify(message))
  const query = 'subscription { postCollection { edges { node { title } } } }'
  socket.on('open', () => say({ type: 'connection_init', payload: { apikey } }))
  socket.on('close', (code) => console.log(code))
  socket.on('message', (data) => {
    console.log(data.toString())
    if (data.includes('connection_ack')) say({ id: '1', type: 'subscribe', payload: { query } })
    else if (data.includes('"new"')) server.close().then(() => app.close())
    else fetch('http://' + at, { method: 'POST', headers, body: JSON.stringify({ query: write }) })
  })`

describe('the package', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'server-application-'))
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/catalograph'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    return () => rmSync(folder, { recursive: true })
  })

  it('serves within an application as the page shows it, streams over WebSockets too', async () => {
    const db = await createDatabase({
      prepare: true,
      sql: `create table public.post (id int primary key, title text);
        comment on table public.post is '@graphql({"live": {"enabled": true}})';
        grant select, insert on public.post to anon`,
    })
    const post = { schema: 'public', name: 'post' }
    expect(await withSession({ url: db.ownerUrl }, (query) => installLive(query, [post]))).toEqual([])
    for (const name of ['fastify', 'ws'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    const [shown] = examplesIn(readPage('docs/operate.md')).filter(({ text }) => text.includes("from 'catalograph'"))
    writeFileSync(join(folder, 'shown.js'), `${given}\n${shown?.text.replace('port: 3000', 'port: 0')}\n${visit}`)
    onTestFinished(() => db.drop())
    const args = ['shown.js', db.url, secret, projectKeys(secret).anon]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder })
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { type: 'connection_ack' },
      { id: '1', type: 'next', payload: { data: { postCollection: { edges: [] } } } },
      { id: '1', type: 'next', payload: { data: { postCollection: { edges: [{ node: { title: 'new' } }] } } } },
      1001,
    ])
  })

  it('has a typed main export', async () => {
    const application = `
      import { createServer, type CatalographServer } from 'catalograph'
      const options = { databaseUrl: 'postgres://nobody@127.0.0.1:1/none', jwtSecret: 'x'.repeat(40), baseUrl: 'http://a' }
      export const server: Promise<CatalographServer> = createServer({ ...options, poolSize: 4 })
      // @ts-expect-error a setting has its type
      export const wrong = createServer({ ...options, poolSize: '4' })
          // @ts-expect-error anyone who calls it listens
      export const elsewhere = createServer({ ...options, port: 3000 })
      // @ts-expect-error there is no service without a secret
      export const open = createServer({ databaseUrl: '', baseUrl: '' })
    `
    writeFileSync(join(folder, 'application.ts'), application)
    const compiler = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipDefaultLibCheck: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: compiler, include: ['application.ts'] }),
    )
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout } = await promisify(execFile)(tsc, ['-p', folder]).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })
})
