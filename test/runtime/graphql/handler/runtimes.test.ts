import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { compileCommand } from '../../../../compiler/commands/compile.ts'
import { serverAccount } from '../../../../runtime/db/embedded/postgres-account.ts'
import { createHandler, type Handler } from '../../../../runtime/graphql/handler/handler.ts'
import { readArtifacts } from '../../../../runtime/graphql/handler/read-artifacts.ts'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../../runtime/identity/project-keys.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'
import { makeAuthority, makeCertificate, noOpenssl } from '../../../support/certificates.ts'
import { runCommand } from '../../../support/command.ts'
import { createDatabase, overSessions, type TestDatabase } from '../../../support/database.ts'
import { describePresent } from '../../../support/describe-present.ts'
import { pack, unpack } from '../../../support/packed.ts'
import {
  programOf,
  runtimeTable,
  startApp,
  type AppSettings,
  type RunningApp,
} from '../../../support/runtimes/runtimes.ts'

/** The handler in other runtimes than Node, from its package. Its answers in Node are correct: handler.test.ts. */

const jwtSecret = 'a secret that has more than thirty-two characters'
const { anon } = projectKeys(jwtSecret)
const documents = {
  mine: 'query Mine($n: Int!) { notesCollection(first: $n) { edges { node { id body } } } }\n',
  add: 'mutation Add($rows: [notesInsertInput!]!) { insertIntonotesCollection(objects: $rows) { affectedCount } }\n',
  nap: 'query Nap { nap }\n',
  fails: 'query Fails { fails }\n',
  encrypted: 'query Encrypted { encrypted }\n',
}

const runtimes = runtimeTable.map((row) => {
  const program = programOf(row)
  const missing = program === null ? `there is no ${row.name}, and ${row.variable} names none` : noOpenssl()
  return { row, program, missing }
})

let folder: string
let project: string
let db: TestDatabase
let settings: AppSettings
let inNode: Handler

/** Gives the server a certificate for `localhost`; returns that of who signed it. */
async function encrypt(): Promise<string> {
  await makeAuthority(folder, 'authority')
  await makeCertificate(folder, 'authority', 'server', { subject: 'localhost', hosts: 'DNS:localhost' })
  const account = await serverAccount()
  const [cert, key] = ['server.crt', 'server.key'].map((name) => join(folder, name))
  await chmod(folder, 0o755)
  for (const file of [cert, key].filter((path) => path !== undefined)) {
    await chmod(file, 0o600)
    if (account !== null) await chown(file, account.uid, account.gid)
  }
  const superuser = db.superuser('changes settings of the server')
  await superuser.query(`alter system set ssl_cert_file = '${cert}'`)
  await superuser.query(`alter system set ssl_key_file = '${key}'`)
  await superuser.query('alter system set ssl = on')
  await superuser.query('select pg_reload_conf()')
  return readFile(join(folder, 'authority.crt'), 'utf8')
}

beforeAll(async () => {
  if (runtimes.every(({ missing }) => missing !== null)) return
  folder = await mkdtemp(join(tmpdir(), 'catalograph-runtimes-'))
  project = await unpack(await pack('.', folder), folder)
  db = await createDatabase({
    isolated: true,
    prepare: true,
    sql: `
      create table notes (id int primary key, body text, owner text default auth.jwt() ->> 'sub');
      alter table notes enable row level security;
      create policy own on notes using (owner = auth.jwt() ->> 'sub');
      insert into notes select n, repeat('é', 10000), 'cid' from generate_series(100, 129) n;
      create function nap() returns int language plpgsql stable as $$ begin perform pg_sleep(30); return 1; end $$;
      create function fails() returns int language sql stable as 'select 1 / (random() * 0)::int';
      create function encrypted() returns boolean language sql stable security definer
        as 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
      grant select, insert on notes to authenticated;
      grant execute on function nap, fails, encrypted to authenticated`,
  })
  await overSessions(db).query('alter function encrypted() owner to postgres')
  for (const [name, text] of Object.entries(documents)) await writeFile(join(folder, `${name}.graphql`), text)
  await writeFile(join(folder, 'add.variables.json'), '{"rows": [{"id": 1, "body": "x"}]}')
  const args = ['compile', '--documents', join(folder, '*.graphql'), '--roles', 'authenticated', '--out', folder]
  const compiled = await runCommand([compileCommand], args, { environment: { DATABASE_URL: db.url } })
  expect([compiled.exitCode, compiled.noted.match(/error.*/i)]).toEqual([0, null])
  const authority = await encrypt()
  const artifacts = readArtifacts(folder)
  const databaseUrl = db.url.replace('127.0.0.1', 'localhost')
  settings = { folder, artifacts: JSON.stringify(artifacts), databaseUrl, jwtSecret, authority }
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: db.url })
    await client.connect()
    return client
  }
  inNode = createHandler(artifacts, { connect, jwtSecret })
}, 60_000)
afterAll(async () => {
  inNode?.close()
  await db?.drop()
  if (folder !== undefined) await rm(folder, { recursive: true })
})

const bearer = (claims: object): string => `Bearer ${signToken({ role: 'authenticated', ...claims }, jwtSecret)}`
const json = { 'content-type': 'application/json' }
const ana = { ...json, apikey: anon, authorization: bearer({ sub: 'ana' }) }
const cid = { ...ana, authorization: bearer({ sub: 'cid' }) }

const byHash = (text: string, variables: object = {}): string =>
  JSON.stringify({ variables, extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hex(text) } } })
const post = (body: string, headers: Record<string, string> = ana, more: RequestInit = {}): RequestInit => ({
  method: 'POST',
  headers,
  body,
  ...more,
})

/** Requests to every runtime, answered as in Node: headers and bodies, and the URL's query. */
const questions: readonly (readonly [RequestInit, search?: string])[] = [
  [post(byHash(documents.mine, { n: 5 }))],
  [post(byHash(documents.mine, { n: 100 }), cid)],
  [post(JSON.stringify({ query: documents.mine, variables: { n: 5 } }), cid)],
  [post(byHash(documents.mine, { n: 1 }), { ...cid, accept: 'text/event-stream' })],
  [post(byHash(documents.mine, { n: 1 }), { ...cid, accept: 'application/graphql-response+json' })],
  [post(byHash(documents.mine, { n: -1 }))],
  [post(byHash(documents.mine, { n: 'x' }))],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, apikey: '' })],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, apikey: signToken({ role: 'anon' }, 'another') })],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, authorization: bearer({ exp: 1 }) })],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, authorization: `Bearer ${anon}` })],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, 'content-type': 'text/plain' })],
  [post(byHash(documents.mine, { n: 1 }), { ...ana, accept: 'image/png' })],
  [post(JSON.stringify({ query: '{ other }' }))],
  [post(JSON.stringify({ query: '{ __typename }', extensions: { explain: true } }))],
  [post(byHash(documents.fails))],
  [post(byHash(documents.add, { rows: [{ id: 100, body: 'is there' }] }))],
  [post(byHash(documents.add, { rows: [] }))],
  [post('{')],
  [post(`{"query": "${'x'.repeat(1_100_000)}"}`)],
  [
    post(
      `{"query": ${JSON.stringify(documents.mine)}, "variables": {"n": ${'['.repeat(60_000)}1${']'.repeat(60_000)}}}`,
    ),
  ],
  [{ method: 'GET', headers: cid }, `?query=${encodeURIComponent(documents.mine)}&variables=%7B%22n%22%3A2%7D`],
  [{ method: 'PUT', headers: ana, body: '{}' }],
]

const told = async (response: Response): Promise<readonly unknown[]> => [
  response.status,
  ...['content-type', 'cache-control', 'allow', 'retry-after', 'www-authenticate'].map((name) =>
    response.headers.get(name),
  ),
  await response.text(),
]

describePresent(
  runtimes,
  ({ row }) => `the handler in ${row.name}`,
  ({ row, program }) => {
    const { keeps, toleratesEnd = false } = row
    let app: RunningApp
    beforeAll(async () => {
      if (program !== null) app = await startApp(row, program, project, settings)
    }, 30_000)
    afterAll(() => app?.stop())
    const ask = (path: string, init: RequestInit): Promise<Response> => fetch(`${app.url}/${path}`, init)
    const code = async (path: string, init: RequestInit): Promise<readonly unknown[]> => {
      const response = await ask(path, init)
      const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] }
      return [response.status, errors?.[0]?.extensions.code]
    }
    const ways = [...(keeps ? ['kept'] : []), 'fresh', 'tls']

    it('the handler answers what it answers in Node', async () => {
      const differing: unknown[] = []
      for (const [init, search = ''] of questions) {
        const right = await told(await inNode(new Request(`http://localhost/${search}`, init)))
        for (const way of ways) {
          const answer = await told(await ask(`${way}${search}`, init))
          if (JSON.stringify(answer) !== JSON.stringify(right))
            differing.push([way, String(init.body).slice(0, 200), right, answer])
        }
      }
      expect(differing, app.said()).toEqual([])
    }, 30_000)

    it('the handler writes, and encrypts where it shall', async () => {
      await db.query("delete from notes where owner = 'ana'")
      for (const [at, way] of ways.entries()) {
        const rows = [{ id: at, body: way }]
        const added = '{"data":{"insertIntonotesCollection":{"affectedCount":1}}}'
        expect(await (await ask(way, post(byHash(documents.add, { rows })))).text()).toBe(added)
        const encrypted = await (await ask(way, post(byHash(documents.encrypted)))).text()
        expect(encrypted).toBe(`{"data":{"encrypted":${way === 'tls'}}}`)
      }
    })

    it('the handler answers many at once, with as many connections as it may have', async () => {
      for (const way of ways) {
        const asked = Array.from({ length: 40 }, () => code(way, post(byHash(documents.mine, { n: 30 }), cid)))
        expect(new Set((await Promise.all(asked)).map(String))).toEqual(new Set(['200,']))
      }
    }, 30_000)

    /** Asks for a long answer; returns how its client leaves. */
    const abort = (way: string): (() => Promise<unknown>) => {
      const client = new AbortController()
      const left = ask(way, post(byHash(documents.nap), ana, { signal: client.signal })).catch(() => 'left')
      return () => {
        client.abort()
        return left
      }
    }
    const reset = (way: string): (() => Promise<unknown>) => {
      const client = httpRequest(`${app.url}/${way}`, { method: 'POST', headers: ana })
      const left = once(client, 'error')
      client.end(byHash(documents.nap))
      return () => {
        client.socket?.resetAndDestroy()
        return left
      }
    }

    it('the handler cancels in Postgres what a client asked that left', async () => {
      const isRunning = async (): Promise<boolean> => {
        const text =
          "select from pg_stat_activity where state = 'active' and query like '%nap%' and pid <> pg_backend_pid()"
        return (await overSessions(db).query(text)).rowCount === 1
      }
      for (const way of ways) {
        const leave = toleratesEnd ? reset(way) : abort(way)
        await vi.waitUntil(isRunning, { timeout: 5_000 })
        await leave()
        await vi.waitUntil(async () => !(await isRunning()), { timeout: 5_000 })
        expect(await code(way, post(byHash(documents.mine, { n: 1 })))).toEqual([200, undefined])
      }
    }, 30_000)

    it('the handler goes on when its connections end', async () => {
      await overSessions(db).query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'",
      )
      for (const way of ways) expect(await code(way, post(byHash(documents.mine, { n: 1 })))).toEqual([200, undefined])
    })

    it('the handler notices a change of the schema', async () => {
      await db.query('alter table notes rename column body to text')
      for (const way of ways)
        expect(await code(way, post(byHash(documents.mine, { n: 1 })))).toEqual([503, 'DOCUMENT_OUTDATED'])
      await db.query('alter table notes rename column text to body')
      for (const way of ways) expect(await code(way, post(byHash(documents.mine, { n: 1 })))).toEqual([200, undefined])
    })
  },
)
