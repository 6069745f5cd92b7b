import { describe, expect, it } from 'vitest'
import { documentHash, type ObservedRequest } from '../../../../runtime/graphql/http/observed.ts'
import { createRequestLog, documentOf } from '../../../../runtime/console/observe/request-log.ts'
import { sha256Hex } from '../../../../runtime/lib/text.ts'
import { askOwner, type Answer } from '../../../support/auth.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { keys, whileServed, type ServedProject } from '../../../support/while-served.ts'

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `create table notes (id int primary key, text text);
      create function wait() returns int language sql stable as 'select 1 from pg_sleep(0.05)';
      grant select on notes to anon, service_role;`,
})

const ask = ({ url }: ServedProject, path: string, key = keys.serviceRole): Promise<Answer> =>
  askOwner({ url, serviceRole: keys.serviceRole }, 'GET', path, undefined, key)

const secretive = 'query Mine { notesCollection(filter: {text: {eq: "my password"}, id: {gt: 4711}}) { nothing } }'

describe('slow and failed requests', () => {
  it('are shown to the owner alone, newest first', async () => {
    await whileServed(db, { SLOW_REQUEST_MS: '50' }, async (project) => {
      await project.graphql('query Slow { wait }')
      await project.graphql(secretive)
      expect((await ask(project, '/requests', keys.anon)).status).toBe(403)
      const { body } = await ask(project, '/requests')
      expect(body.slow_ms).toBe(50)
      expect(body.requests).toMatchObject([
        { operation: 'Mine', role: 'anon', outcome: 'invalid', code: 'GRAPHQL_VALIDATION_FAILED', phases: {} },
        { operation: 'Slow', role: 'anon', outcome: 'ok', code: null, hash: sha256Hex('query Slow { wait }') },
      ])
      expect(body.requests[1].phases).toEqual({
        prepare: expect.any(Number),
        queue: expect.any(Number),
        database: expect.any(Number),
      })
      expect(JSON.stringify(body)).not.toMatch(/password|4711|select/i)
    })
  })

  it('have their document shown without the values in it', async () => {
    await whileServed(db, {}, async (project) => {
      const { headers } = await project.graphql(secretive)
      await project.graphql('{ never closed "my password"')
      const { body } = await ask(project, '/requests')
      expect(body.requests.map((one: { request_id: string }) => one.request_id)).toContain(headers.get('x-request-id'))
      const { document } = (await ask(project, `/documents/${sha256Hex(secretive)}`)).body
      expect(document).toContain('filter: {text: {eq: ""}, id: {gt: 0}}')
      for (const hash of [sha256Hex('{ never closed "my password"'), 'nonsense', '__proto__']) {
        expect(await ask(project, `/documents/${hash}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
      }
    })
  })
})

it('a request that sent a hash alone is known by it, if it is one', () => {
  const hash = sha256Hex('{ a }')
  const hashOf = (sha256Hash: unknown): string =>
    documentHash({
      query: null,
      operationName: null,
      variables: {},
      extensions: { persistedQuery: { sha256Hash } },
      queryOnly: false,
    })
  expect([hashOf(hash.toUpperCase()), hashOf('a secret'), hashOf(null)]).toEqual([hash, '', ''])
})

describe('the record of requests', () => {
  const request = (
    operation: string,
    { ms = 1, code = null, document = '{ a }' }: { ms?: number; code?: string | null; document?: string | null } = {},
  ): ObservedRequest => ({
    requestId: operation,
    asked: { query: document, operationName: operation, variables: {}, extensions: {}, queryOnly: false },
    role: 'anon',
    response: code === null ? { outcome: 'ok', body: '' } : { outcome: 'failed', code: 'DATABASE_REFUSED', body: '' },
    timeline: { arrived: 0, prepared: 0, acquired: 0, answered: 0 },
    done: ms,
  })

  it('is bounded, and failures displace no slow one', () => {
    const log = createRequestLog(50, () => undefined)
    log.watch(request('slow', { ms: 50 }))
    log.watch(request('quick', { ms: 49 }))
    for (let n = 0; n < 1_000; n += 1) log.watch(request(`f${n}`, { ms: 60 + n, code: 'DATABASE_REFUSED' }))
    const names = log.kept().map(({ operation }) => operation)
    expect([names.length, names[0], names[1], names.at(-1)]).toEqual([101, 'slow', 'f900', 'f999'])
  })

  it('holds neither long documents nor long names, and nothing is slow without a limit', async () => {
    const log = createRequestLog(0, () => undefined)
    const long = `{ a } # ${'x'.repeat(10_000)}`
    log.watch(request('slow', { ms: 60_000 }))
    log.watch(request('n'.repeat(1_000), { code: 'X', document: long }))
    log.watch(request('persisted', { code: 'X', document: null }))
    expect(log.kept().map(({ operation, document }) => [operation.length, document])).toEqual([
      [100, null],
      [9, null],
    ])
    expect(await documentOf(log.kept(), sha256Hex(long))).toBeNull()
  })
})
