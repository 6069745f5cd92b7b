import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { compileCommand } from '../../../../compiler/commands/compile.ts'
import { keysCommand } from '../../../../compiler/commands/keys.ts'
import {
  createHandler,
  type DocumentTexts,
  type Handler,
  type HandlerOptions,
} from '../../../../runtime/graphql/handler/handler.ts'
import { readArtifacts } from '../../../../runtime/graphql/handler/read-artifacts.ts'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../../runtime/identity/project-keys.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'
import { runCommand } from '../../../support/command.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { examplesIn, readPage } from '../../../support/examples.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { titled } from '../../../support/programs.ts'
import { poolers } from '../../../support/poolers.ts'
import { serveBuilt } from '../../../support/served.ts'
import { until } from '../../../support/until.ts'

const jwtSecret = 'a secret that has more than thirty-two characters'
const { anon } = projectKeys(jwtSecret)
const documents = {
  mine: 'query Mine($n: Int!) { notesCollection(first: $n) { edges { node { id body } } } }\n',
  add: 'mutation Add($rows: [notesInsertInput!]!) { insertIntonotesCollection(objects: $rows) { affectedCount } }\n',
  slow: 'query Slow { nap }\n',
  deaf: 'query Deaf { deaf }\n',
}

let folder: string
let artifacts: DocumentTexts
let handler: Handler
let opened = 0

const connectTo = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}
const connect = (): Promise<pg.Client> => {
  opened += 1
  return connectTo(db.url)
}
const open = (given: DocumentTexts, options: Partial<HandlerOptions> = {}): Handler =>
  createHandler(given, { connect, jwtSecret, connections: 2, ...options })

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `
      create table notes (id int primary key, body text, owner text default auth.jwt() ->> 'sub');
      alter table notes enable row level security;
      create policy own on notes using (owner = auth.jwt() ->> 'sub');
      create function nap() returns int language plpgsql stable as $$ begin perform pg_sleep(5); return 1; end $$;
      grant select, insert on notes to authenticated;
      create function deaf() returns int language plpgsql stable as $$
        begin loop begin perform pg_sleep(30); exception when query_canceled then null; end; end loop; end $$;
      grant execute on function nap, deaf to anon, authenticated`,
})
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalograph-handler-'))
  for (const [name, text] of Object.entries(documents)) await writeFile(join(folder, `${name}.graphql`), text)
  await writeFile(join(folder, 'add.variables.json'), '{"rows": [{"id": 1, "body": "x"}]}')
  await writeFile(join(folder, 'mine.variables.json'), '[{"n": 1}, {"n": 5}]')
  const args = ['compile', '--documents', join(folder, '*.graphql'), '--roles', 'authenticated', '--out', folder]
  const compiled = await runCommand([compileCommand], args, { environment: { DATABASE_URL: db.url } })
  expect([compiled.exitCode, compiled.noted.match(/error.*/i)]).toEqual([0, null])
  artifacts = JSON.parse(JSON.stringify(readArtifacts(folder))) as DocumentTexts
  handler = open(artifacts)
})
afterAll(async () => {
  handler?.close()
})

const bearer = (claims: object): string => `Bearer ${signToken({ role: 'authenticated', ...claims }, jwtSecret)}`
const ana = bearer({ sub: 'ana' })

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Request =>
  new Request('https://example.com/any', {
    method: 'POST',
    headers: { apikey: anon, authorization: ana, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const byHash = (text: string, variables: object = {}): object => ({
  variables,
  extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hex(text) } },
})
const told = async (request: Request, by = handler): Promise<readonly [status: number, body: string]> => {
  const response = await by(request)
  return [response.status, await response.text()]
}
const code = async (request: Request, by = handler): Promise<readonly [number, string | undefined]> => {
  const [status, body] = await told(request, by)
  const { errors } = JSON.parse(body) as { errors?: { extensions: { code: string } }[] }
  return [status, errors?.[0]?.extensions.code]
}

describe('createHandler', () => {
  it('answers by hash and by text, as the caller, on connections that it keeps', async () => {
    await handler.ready()
    const rows = [{ id: 1, body: 'one' }]
    expect(await told(post(byHash(documents.add, { rows })))).toEqual([
      200,
      '{"data":{"insertIntonotesCollection":{"affectedCount":1}}}',
    ])
    const mine = '{"data":{"notesCollection":{"edges":[{"node":{"id":1,"body":"one"}}]}}}'
    const before = opened
    for (const request of [byHash(documents.mine, { n: 5 }), { query: documents.mine, variables: { n: 5 } }])
      expect(await told(post(request))).toEqual([200, mine])
    const none = '{"data":{"notesCollection":{"edges":[]}}}'
    const asBen = { authorization: bearer({ sub: 'ben' }) }
    expect(await told(post(byHash(documents.mine, { n: 5 }), asBen))).toEqual([200, none])
    expect(opened).toBe(before)
    const url = `https://example.com/?query=${encodeURIComponent(documents.mine)}&variables=${encodeURIComponent('{"n":5}')}`
    const headers = { apikey: anon, authorization: ana }
    expect(await told(new Request(url, { headers }))).toEqual([200, mine])
  })

  it('refuses unknown callers and malformed requests, as the server does', async () => {
    const asked = byHash(documents.mine, { n: 1 })
    const outdated = bearer({ exp: 1 })
    expect(await code(post(asked, { apikey: '' }))).toEqual([401, 'KEY_MISSING'])
    expect(await code(post(asked, { apikey: signToken({ role: 'anon' }, 'another') }))).toEqual([401, 'KEY_INVALID'])
    expect(await code(post(asked, { authorization: outdated }))).toEqual([401, 'TOKEN_INVALID'])
    expect(await code(post(asked, { authorization: `Bearer ${anon}` }))).toEqual([200, 'PERSISTED_QUERY_NOT_FOUND'])
    expect(await code(post(asked, { 'content-type': 'text/plain' }))).toEqual([415, 'MEDIA_TYPE_UNSUPPORTED'])
    expect(await code(post(asked, { accept: 'image/png' }))).toEqual([406, 'NOT_ACCEPTABLE'])
    expect(await code(post('{'))).toEqual([400, 'BODY_MALFORMED'])
    expect(await code(post(`{"query": "${'x'.repeat(1_100_000)}"}`))).toEqual([413, 'BODY_TOO_LARGE'])
    const put = new Request('https://example.com/', { method: 'PUT', headers: { apikey: anon } })
    expect(await code(put)).toEqual([405, 'METHOD_NOT_ALLOWED'])
    const strict = { accept: 'application/graphql-response+json' }
    expect(await code(post({ query: '{ other }' }, strict))).toEqual([400, 'DOCUMENT_NOT_COMPILED'])
    expect(await code(post(byHash(documents.mine, { n: 'x' }), strict))).toEqual([400, 'BAD_VARIABLES'])
  })

  it('answers byte for byte what a server of compiled documents answers, to what is malformed as well', async () => {
    const served = await serveBuilt(db, {}, null, ['--artifacts', folder, '--only-compiled'])
    const mine = { query: documents.mine, variables: { n: 1 } }
    const persisted = (sha256Hash: unknown, more: object = {}): object => ({
      extensions: { persistedQuery: { version: 1, sha256Hash } },
      variables: { n: 1 },
      ...more,
    })
    const deep = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`
    const bodies: readonly (string | object)[] = [
      ...['', ' ', '{', 'null', '[]', '1', '"query"', '{}', '{"query": null}', '{"query": ["{ a }"]}'],
      [mine],
      [mine, mine],
      { ...mine, operationName: 1 },
      { ...mine, operationName: '' },
      { ...mine, operationName: 'Other' },
      ...['__proto__', 'constructor', 'toString'].map((operationName) => ({ ...mine, operationName })),
      ...['[]', '"n"', '1', 'null'].map((text) => `{"query": ${JSON.stringify(documents.mine)}, "variables": ${text}}`),
      { ...mine, extensions: [] },
      { ...mine, extensions: { persistedQuery: [] } },
      { ...mine, extensions: { explain: true } },
      { ...mine, extensions: { schemaReport: true } },
      ...[1, null, '', '__proto__', 'constructor', 'toString', '../index', '../../current', 'index'].map((hash) =>
        persisted(hash),
      ),
      persisted(sha256Hex(documents.mine).toUpperCase()),
      persisted(sha256Hex('{ other }'), { query: documents.mine }),
      persisted(sha256Hex(documents.mine), { query: '{ other }' }),
      { query: '{ __schema { types { name } } }' },
      { query: `${documents.mine} ` },
      `{"__proto__": ${JSON.stringify(mine)}}`,
      ...['{"__proto__": {"n": 1}}', '{"n": 1, "__proto__": {"n": "x"}}', '{"constructor": 1, "n": 1}'].map(
        (variables) => `{"query": ${JSON.stringify(documents.mine)}, "variables": ${variables}}`,
      ),
      ...[deep(100), deep(600), deep(60_000), '9'.repeat(1_001), '1'.repeat(20), '1e400', '-0', '1.5', 'true'].map(
        (n) => `{"query": ${JSON.stringify(documents.mine)}, "variables": {"n": ${n}}}`,
      ),
      `{"query": ${JSON.stringify(documents.mine)}, "variables": [${'1,'.repeat(7_000)}1]}`,
      `{"query": ${JSON.stringify(documents.mine)}, "variables": {"n": 1, "more": [${'1,'.repeat(7_000)}${'9'.repeat(1_001)}]}}`,
      { query: documents.add, variables: { rows: Array.from({ length: 3_000 }, () => ({ id: 'x', body: 1 })) } },
      { query: documents.add, variables: { rows: Array.from({ length: 3_000 }, () => ({ __proto__x: 1 })) } },
      { query: documents.mine, variables: { n: 1, more: 'x'.repeat(100_000) } },
    ]
    const json = { 'content-type': 'application/json' }
    const types = [
      'text/plain',
      'application/json; charset=latin1',
      'application/json;charset=utf-8',
      'application/graphql',
    ]
    const posts = [
      ...bodies.map((body) => ({ body, headers: json })),
      ...types.map((type) => ({ body: mine, headers: { 'content-type': type } })),
      { body: mine, headers: { ...json, 'content-encoding': 'gzip' } },
      ...['application/graphql-response+json', 'text/event-stream', 'image/png', '*/*'].flatMap((accept) =>
        [mine, { query: '{ other }' }, '{'].map((body) => ({ body, headers: { ...json, accept } })),
      ),
    ].map(({ body, headers }) => ({
      init: { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
      search: '',
    }))
    const query = `query=${encodeURIComponent(documents.mine)}`
    const hashed = `extensions=${encodeURIComponent(JSON.stringify({ persistedQuery: { sha256Hash: sha256Hex(documents.mine) } }))}`
    const n = 'variables=%7B%22n%22%3A1%7D'
    const gets = [
      ...['', 'query', 'query=', `${query}&${n}`, `${hashed}&${n}`, `${query}&${query}&${n}`, `${query}&${n}&${n}`],
      ...[`${query}&variables=`, `${query}&variables=null`, `${query}&variables=[]`, `${query}&variables=x`],
      ...[`${query}&${n}&operationName=`, `${query}&${n}&operationName=__proto__`, `${query}&${n}&__proto__=1`],
      ...[`${query}&${n}&extensions=[]`, 'query=%ZZ', `${query}+&${n}`, `constructor=1&${query}&${n}`],
      `query=${encodeURIComponent(documents.add)}&variables=${encodeURIComponent('{"rows": []}')}`,
    ].map((search) => ({ init: { method: 'GET', headers: {} }, search: `?${search}` }))
    const differing: unknown[] = []
    for (const { init, search } of [...posts, ...gets]) {
      const asked = { ...init, headers: { apikey: anon, authorization: ana, ...init.headers } }
      const answers = await Promise.all(
        [
          await fetch(`${served.url}/graphql/v1${search}`, asked),
          await handler(new Request(`https://example.com/${search}`, asked)),
        ].map(async (response) => [response.status, response.headers.get('content-type'), await response.text()]),
      )
      const [ours, theirs] = answers.map((one) => JSON.stringify(one))
      if (ours !== theirs || answers[0]?.[0] === 500)
        differing.push([JSON.stringify([init, search]).slice(0, 300), ...answers])
    }
    await served.stop()
    expect(differing).toEqual([])
  }, 60_000)

  it('gives Postgres so long for a statement, and serves where no connection may be kept', async () => {
    const brief = open(artifacts, { keepsConnections: false, statementTimeoutMs: 200 })
    expect(await code(post({ query: documents.slow }), brief)).toEqual([200, 'DATABASE_TIMEOUT'])
    const before = opened
    for (const _time of [1, 2]) expect((await told(post(byHash(documents.mine, { n: 1 })), brief))[0]).toBe(200)
    expect(opened).toBeGreaterThanOrEqual(before + 2)
  })

  it('refuses a revoked key, and goes on with the others', async () => {
    const keys = (...args: readonly string[]) =>
      runCommand([keysCommand], ['keys', ...args], {
        environment: { DATABASE_OWNER_URL: db.ownerUrl, JWT_SECRET: jwtSecret },
      })
    const [, apikey = '', id = ''] = (await keys('add', 'anon')).printed.split(/ +/)
    const asked = (by: Handler, key = apikey) => code(post(byHash(documents.mine, { n: 1 }), { apikey: key }), by)
    expect(await asked(handler)).toEqual([200, undefined])
    await keys('revoke', id)
    await until(async () => (await asked(handler))[0] === 401)
    expect(await asked(handler)).toEqual([401, 'KEY_INVALID'])
    expect(await asked(handler, anon)).toEqual([200, undefined])
    for (const keepsConnections of [true, false]) {
      const later = open(artifacts, { keepsConnections })
      expect(await asked(later)).toEqual([401, 'KEY_INVALID'])
      expect(await asked(later, anon)).toEqual([200, undefined])
      later.close()
    }
    const away = open(artifacts, { connect: () => connectTo('postgres://nobody@127.0.0.1:1/none') })
    expect(await asked(away)).toEqual([503, 'UNAVAILABLE'])
    expect(await code(post('{}', { apikey: 'none' }), away)).toEqual([401, 'KEY_INVALID'])
    away.close()
  })

  it('cancels in Postgres what a client asked that left, and lends the connection on', async () => {
    const one = open(artifacts, { connections: 1 })
    await told(post(byHash(documents.mine, { n: 1 })), one)
    const before = opened
    const isRunning = async (): Promise<boolean> => {
      const naps = await overSessions(db).query(
        "select from pg_stat_activity where state = 'active' and query like '%nap%' and pid <> pg_backend_pid()",
      )
      return naps.rowCount === 1
    }
    const client = new AbortController()
    const left = code(new Request(post({ query: documents.slow }), { signal: client.signal }), one)
    await vi.waitUntil(isRunning, { timeout: 4_000 })
    const waits = new AbortController()
    const waiting = code(new Request(post({ query: documents.slow }), { signal: waits.signal }), one)
    const next = told(post(byHash(documents.mine, { n: 1 })), one)
    waits.abort()
    client.abort()
    expect([await left, await waiting]).toEqual([
      [200, 'DEADLINE_EXCEEDED'],
      [200, 'DEADLINE_EXCEEDED'],
    ])
    expect((await next)[0]).toBe(200)
    expect([await isRunning(), opened]).toEqual([false, before])
    const gone = new Request(post({ query: documents.slow }), { signal: AbortSignal.abort() })
    expect(await code(gone, one)).toEqual([200, 'DEADLINE_EXCEEDED'])
    one.close()
  })

  it('ends what a client asked that left, also where a function catches the cancellation', async () => {
    const one = open(artifacts, { connections: 1 })
    const isRunning = async (): Promise<boolean> => {
      const { rowCount } = await overSessions(db).query(
        "select from pg_stat_activity where state = 'active' and query like '%deaf%' and pid <> pg_backend_pid()",
      )
      return rowCount === 1
    }
    const client = new AbortController()
    const left = code(new Request(post({ query: documents.deaf }), { signal: client.signal }), one)
    await vi.waitUntil(isRunning, { timeout: 20_000 })
    client.abort()
    expect(await left).toEqual([200, 'DEADLINE_EXCEEDED'])
    // Postgres looks for its client once a second.
    await vi.waitUntil(async () => !(await isRunning()), { timeout: 20_000 })
    one.close()
  }, 60_000)

  it('answers at once whom too many wait before', async () => {
    const busy = open(artifacts, { connections: 1, statementTimeoutMs: 20_000 })
    await busy.ready()
    const many = Array.from({ length: 203 }, () => code(post(byHash(documents.mine, { n: 1 })), busy))
    const answers = await Promise.all(many)
    expect(answers.filter(([, refused]) => refused === undefined).length).toBeGreaterThanOrEqual(201)
    expect(answers.filter(([, refused]) => refused !== undefined)).toContainEqual([503, 'OVERLOADED'])
    busy.close()
  })

  it('says what it cannot serve with', async () => {
    const index = artifacts['documents/index.json'] ?? ''
    expect(() => open({ ...artifacts, 'documents/index.json': index.replace(/"format": \d/, '"format": 1') })).toThrow(
      /has format 1/,
    )
    const { 'documents/index.json': _left, ...others } = artifacts
    expect(() => open(others)).toThrow(/is not JSON/)
    const changed = Object.fromEntries(
      Object.entries(artifacts).map(([path, text]) => [path, path.endsWith('index.json') ? text : `${text} `]),
    )
    expect(await code(post(byHash(documents.mine, { n: 1 })), open(changed))).toEqual([503, 'DOCUMENT_DAMAGED'])
    const away = open(artifacts, { connect: () => Promise.reject(new Error('no route to a secret host')) })
    expect(await code(post(byHash(documents.mine, { n: 1 })), away)).toEqual([503, 'UNAVAILABLE'])
    const other = await createDatabase({ prepare: true, sql: '' })
    onTestFinished(() => other.drop())
    const elsewhere = open(artifacts, { connect: () => connectTo(other.url) })
    await expect(elsewhere.ready()).rejects.toThrow(/of another database/)
    expect(await code(post(byHash(documents.mine, { n: 1 })), elsewhere)).toEqual([503, 'UNAVAILABLE'])
    elsewhere.close()
  })

  const unfit = poolers().flatMap(({ name, modes, start, missing }) => {
    const pooler = { start, missing, title: titled(name, missing) }
    return [
      ...(modes.includes('statement')
        ? [{ ...pooler, options: { mode: 'statement' }, sentence: /set its pool_mode/ } as const]
        : []),
      ...(name.startsWith('pgcat')
        ? [{ ...pooler, options: { statements: 100 }, sentence: /set its prepared_statements/ } as const]
        : []),
    ]
  })

  it.for(unfit)(
    'says before it answers that requests would fail with $options through $title',
    async ({ options, sentence, start, missing }, { skip }) => {
      skip(missing !== null)
      const url = new URL(db.url)
      const before = await start({ serverPort: Number(url.port), ...options })
      url.port = String(before.port)
      const behind = open(artifacts, { connect: () => connectTo(url.href) })
      onTestFinished(async () => {
        behind.close()
        await before.close()
      })
      await expect(behind.ready()).rejects.toThrow(sentence)
    },
  )

  it('goes on after a change that a document survives, and says that one does not', async () => {
    await db.query('alter table notes add column more int')
    expect((await told(post(byHash(documents.mine, { n: 1 }))))[0]).toBe(200)
    await db.query('alter table notes rename column body to text')
    expect(await code(post(byHash(documents.mine, { n: 1 })))).toEqual([503, 'DOCUMENT_OUTDATED'])
    await db.query('alter table notes rename column text to body')
    expect((await told(post(byHash(documents.mine, { n: 1 }))))[0]).toBe(200)
  })

  it('loads no graphql-js, no validator, no compiler and no server', async () => {
    const coverage = await mkdtemp(join(tmpdir(), 'catalograph-handler-modules-'))
    const example = examplesIn(readPage('docs/artifacts.md')).find(({ language }) => language === 'js')
    const script = `${example?.text.replace("'generated'", JSON.stringify(folder))}
      const headers = { apikey: '${anon}', authorization: '${ana}', 'content-type': 'application/json' }
      const body = JSON.stringify(${JSON.stringify(byHash(documents.mine, { n: 1 }))})
      console.log(await (await handler(new Request('http://localhost/', { method: 'POST', headers, body }))).text())
      handler.close()`
    const env = { PATH: process.env['PATH'], NODE_V8_COVERAGE: coverage, DATABASE_URL: db.url, JWT_SECRET: jwtSecret }
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, cwd: process.cwd() })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
    await once(child, 'close')
    expect(printed).toBe('{"data":{"notesCollection":{"edges":[{"node":{"id":1,"body":"one"}}]}}}\n')
    const [report = ''] = await readdir(coverage)
    const { result } = JSON.parse(await readFile(join(coverage, report), 'utf8')) as { result: { url: string }[] }
    const loaded = result.map(({ url }) => url)
    expect(loaded.filter((url) => url.includes('/dist/runtime/graphql/compiled/'))).not.toEqual([])
    expect(loaded.filter((url) => /node_modules\/(graphql|fastify|ts-morph|pg-query-emscripten)\//.test(url))).toEqual(
      [],
    )
    const stages =
      /\/dist\/(compiler\/|runtime\/graphql\/(serve|operation\/validation|prepared\/documents|plan\/plan)\.js)/
    expect(loaded.filter((url) => stages.test(url))).toEqual([])
  }, 60_000)
})
