import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { createEngine } from '../../../compiler/additions/engine.ts'
import { createTexts } from '../../../runtime/graphql/allowlist/listed.ts'
import { createPrepareAhead } from '../../../runtime/graphql/allowlist/prepare-ahead.ts'
import type { Loaded } from '../../../runtime/graphql/run/served.ts'
import { createEstimates } from '../../../runtime/graphql/run/cost-limit.ts'
import {
  untrustedCacheLimits,
  createDocuments,
  allowlistCacheLimits,
} from '../../../runtime/graphql/prepared/documents.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import { catalog, schema } from '../../support/catalog-literal.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const persisted = (hash: string): AskOptions => ({ extensions: { persistedQuery: { sha256Hash: hash } } })

const sql = `
  comment on schema public is '@graphql({"allowlist": {"table": "private.documents"}})';
  create table note (id int primary key, text text);
  insert into note values (1, 'one'), (2, 'two');
  grant all on note to anon, authenticated, service_role;
  create schema private;
  create table private.documents (hash text primary key, document text not null, audience text);
  alter table private.documents enable row level security;
  create policy all_of_it on private.documents for select using (audience is null or audience = current_user);
  grant usage on schema private to anon, authenticated, service_role;
  grant select on private.documents to anon, authenticated, service_role;
`

const service = forSuite(createTestService, { sql })

const list = (text: string, audience: string | null = null, hash = hashOf(text)) =>
  service.db.query(
    'insert into private.documents values ($1, $2, $3) on conflict (hash) do update set document = $2, audience = $3',
    [hash, text, audience],
  )
const unlist = (text: string) => service.db.query('delete from private.documents where hash = $1', [hashOf(text)])

/** `data`, or the code of the refusal. */
const ask = async (query: string | null, options: AskOptions = {}): Promise<unknown> => {
  const { data, errors } = await service.graphql(query, options)
  if (errors === undefined) return data
  expect(data).toBeNull()
  expect(errors).toHaveLength(1)
  return errors[0]?.extensions.code
}
const one = '{ noteByPk(id: 1) { text } }'
const two = '{ noteByPk(id: 2) { text } }'
const answerOne = { noteByPk: { text: 'one' } }

describe('17 allowlist', () => {
  it('runs listed documents, by text and by hash, and refuses every other', async () => {
    expect(await ask(one)).toBe('DOCUMENT_NOT_LISTED')
    await list(one)
    expect(await ask(one)).toEqual(answerOne)
    expect(await ask(null, persisted(hashOf(one)))).toEqual(answerOne)
    expect(await ask(null, persisted(hashOf(one).toUpperCase()))).toEqual(answerOne)
    expect(await ask(two)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(`${one} `)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(null, persisted(hashOf(two)))).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect(await ask(null, persisted('nonsense'))).toBe('PERSISTED_QUERY_NOT_FOUND')
  })
  it('governs anon and authenticated, and no other role', async () => {
    expect(await ask(two, { role: 'authenticated' })).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(two, { role: 'service_role' })).toEqual({ noteByPk: { text: 'two' } })
    expect(await ask(null, { role: 'service_role', ...persisted(hashOf(one)) })).toEqual(answerOne)
    expect(await ask(null, { role: 'service_role', ...persisted(hashOf(two)) })).toBe('PERSISTED_QUERY_NOT_FOUND')
  })
  it('names the hash of a refused document', async () => {
    const { errors } = await service.graphql(two)
    expect(errors?.[0]?.message).toBe(
      `The document is not on the list of those that may run; its hash is ${hashOf(two)}.`,
    )
    expect((await service.graphql(null, persisted(hashOf(two)))).errors?.[0]?.message).toBe('PersistedQueryNotFound')
  })
  it('takes variables and operation names, and hashes by GET but no mutations', async () => {
    const text =
      'query A($id: Int!) { noteByPk(id: $id) { text } } mutation B { deleteFromnoteCollection { affectedCount } }'
    await list(text)
    const by = (operationName: string) => ({ ...persisted(hashOf(text)), operationName, variables: { id: 2 } })
    expect(await ask(null, by('A'))).toEqual({ noteByPk: { text: 'two' } })
    expect(await ask(null, { ...by('A'), queryOnly: true })).toEqual({ noteByPk: { text: 'two' } })
    expect(await ask(null, { ...by('B'), queryOnly: true })).toBe('MUTATION_BY_GET')
    expect(await ask(null, by('B'))).toBe('AT_MOST_EXCEEDED')
    expect(await ask(null, persisted(hashOf(text)))).toBe('OPERATION_NOT_FOUND')
    expect((await service.graphql(null, by('B'))).errors?.[0]?.path).toEqual(['deleteFromnoteCollection'])
  })
  it('refuses a text that does not have its hash, no matter who sends it', async () => {
    for (const role of ['anon', 'service_role'])
      expect(await ask(two, { role, ...persisted(hashOf(one)) })).toBe('PERSISTED_QUERY_MISMATCH')
    expect(await ask(one, persisted(hashOf(one)))).toEqual(answerOne)
  })
})

describe('17 allowlist: one round trip', () => {
  it('asks the list within the request that it lets through', async () => {
    await list(one)
    await ask(one)
    const before = service.exchanges.length
    expect(await ask(null, persisted(hashOf(one)))).toEqual(answerOne)
    expect(await ask(one)).toEqual(answerOne)
    const asked = service.exchanges.slice(before).filter(({ condition }) => condition !== undefined)
    expect(asked.map(({ statements }) => statements.length)).toEqual([1, 1])
    for (const { condition } of asked) expect(condition?.sql(1)).toContain('from "private"."documents"')
  })
  it('takes effect with the next request, in either direction', async () => {
    for (let round = 0; round < 3; round += 1) {
      await list(two)
      expect(await ask(null, persisted(hashOf(two)))).toEqual({ noteByPk: { text: 'two' } })
      await unlist(two)
      expect(await ask(null, persisted(hashOf(two)))).toBe('PERSISTED_QUERY_NOT_FOUND')
      expect(await ask(two)).toBe('DOCUMENT_NOT_LISTED')
    }
  })
  it('keeps nothing of a mutation whose document is gone', async () => {
    const write = 'mutation { insertIntonoteCollection(objects: [{ id: 9 }]) { affectedCount } }'
    await list(write)
    expect(await ask(write)).toEqual({ insertIntonoteCollection: { affectedCount: 1 } })
    await service.db.query('delete from note where id = 9')
    await unlist(write)
    expect(await ask(null, persisted(hashOf(write)))).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect((await service.db.query('select from note where id = 9')).rowCount).toBe(0)
  })
})

describe('17 allowlist: any history', () => {
  const seed = Number(process.env['EXACT_SEED'] ?? '71')
  it(`answers as a set of texts per role would (seed ${seed})`, { timeout: 30_000 }, async () => {
    const texts = Array.from({ length: 4 }, (_, index) => `{ a${index}: noteByPk(id: 1) { text } }`)
    const [text, role] = [fc.constantFrom(...texts), fc.constantFrom('anon', 'authenticated', 'service_role')]
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), text, audience: fc.option(role) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('unlist' as const), text }) },
      { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('text' as const, 'hash' as const), text, role }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await service.db.query('delete from private.documents')
        const model = new Map<string, string | null>()
        for (const item of steps) {
          if (item.do === 'list') {
            model.set(item.text, item.audience)
            await list(item.text, item.audience)
          } else if (item.do === 'unlist') {
            model.delete(item.text)
            await unlist(item.text)
          } else {
            const audience = model.get(item.text)
            // service_role is above policies.
            const isAudience = audience === null || audience === item.role || item.role === 'service_role'
            const sees = audience !== undefined && isAudience
            const runs = sees || (item.do === 'text' && item.role === 'service_role')
            const refused = item.do === 'text' ? 'DOCUMENT_NOT_LISTED' : 'PERSISTED_QUERY_NOT_FOUND'
            const sent = item.do === 'text' ? {} : persisted(hashOf(item.text))
            const answer = await ask(item.do === 'text' ? item.text : null, { role: item.role, ...sent })
            expect(answer).toEqual(runs ? { [item.text.slice(2, 4)]: { text: 'one' } } : refused)
          }
        }
      }),
      { seed, numRuns: 25 },
    )
  })
})

describe('17 allowlist: nothing gets out', () => {
  const secret = '{ noteCollection(filter: { nothing: { eq: "x" } }) { secret } }'
  it('reveals nothing about a document before it is listed: no parse error, no suggestion', async () => {
    const texts = [
      '{',
      '{ noteCollectoin { edges { cursor } } }',
      '{ __schema { types { name } } }',
      secret,
      '{ __typename }',
    ]
    for (const text of texts) {
      expect(await ask(text)).toBe('DOCUMENT_NOT_LISTED')
      expect(await ask(null, persisted(hashOf(text)))).toBe('PERSISTED_QUERY_NOT_FOUND')
    }
  })
  it('keeps a document that is listed for another role from this one, once it is known too', async () => {
    await list(secret, 'authenticated')
    await list(two, 'authenticated')
    expect(await ask(null, { role: 'authenticated', ...persisted(hashOf(two)) })).toEqual({ noteByPk: { text: 'two' } })
    const { errors } = await service.graphql(null, { role: 'authenticated', ...persisted(hashOf(secret)) })
    expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    for (const text of [secret, two]) {
      expect(await ask(null, persisted(hashOf(text)))).toBe('PERSISTED_QUERY_NOT_FOUND')
      expect(await ask(text)).toBe('DOCUMENT_NOT_LISTED')
    }
    await unlist(two)
  })
  it('does not run a document that stands under the hash of another', async () => {
    await list(two, null, hashOf('{ something else }'))
    expect(await ask(null, persisted(hashOf('{ something else }')))).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect(await ask(two)).toBe('DOCUMENT_NOT_LISTED')
    // Known, and then overwritten.
    await list(one)
    expect(await ask(one)).toEqual(answerOne)
    await list('{ __typename }', null, hashOf(one))
    expect(await ask(one)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(null, persisted(hashOf(one)))).toBe('PERSISTED_QUERY_NOT_FOUND')
    await list(one)
  })
  it('lists nothing for a role without SELECT, without the table, and without its name', async () => {
    await list(one)
    await service.db.query('revoke select on private.documents from anon')
    expect(await ask(one)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(null, persisted(hashOf(one)))).toBe('PERSISTED_QUERY_NOT_FOUND')
    await service.db.query('grant select on private.documents to anon')
    expect(await ask(one)).toEqual(answerOne)
    await service.db.query('alter table private.documents rename to gone')
    expect(await ask(one)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(null, { role: 'service_role', ...persisted(hashOf(one)) })).toBe('PERSISTED_QUERY_NOT_FOUND')
    await service.db.query('alter table private.gone rename to documents')
    await service.db.query(`comment on schema public is '@graphql({"allowlist": {"tabel": "private.documents"}})'`)
    expect(await ask(one)).toBe('DOCUMENT_NOT_LISTED')
    expect(await ask(one, { role: 'service_role' })).toEqual(answerOne)
  })
  it('follows the comment: other roles, another table, none', async () => {
    await list(one)
    await service.db.query(
      `comment on schema public is '@graphql({"allowlist": {"table": "private.documents", "roles": ["service_role"]}})'`,
    )
    expect(await ask(two)).toEqual({ noteByPk: { text: 'two' } })
    expect(await ask(two, { role: 'service_role' })).toBe('DOCUMENT_NOT_LISTED')
    await service.db.query('comment on schema public is null')
    expect(await ask(two, { role: 'service_role' })).toEqual({ noteByPk: { text: 'two' } })
    expect(await ask(null, persisted(hashOf(one)))).toBe('PERSISTED_QUERY_NOT_SUPPORTED')
    // Without a list a hash beside a text means nothing, as before.
    expect(await ask(one, persisted(hashOf(two)))).toEqual(answerOne)
    await service.db.query(`comment on schema public is '@graphql({"allowlist": {"table": "private.documents"}})'`)
    expect(await ask(two)).toBe('DOCUMENT_NOT_LISTED')
  })
})

describe('17 allowlist: a list without policies, which is asked again when something was written', () => {
  const mine = { ...persisted(hashOf(one)), role: 'authenticated' }
  const run = async (options: AskOptions = mine): Promise<unknown> => {
    const { data, errors } = await plain.graphql(null, options)
    return data ?? errors?.[0]?.extensions.code
  }
  const plain = forSuite(createTestService, {
    sql: `${sql} alter table private.documents disable row level security;
        create function fails() returns boolean language plpgsql as $$ begin raise insufficient_privilege using message = 'not today'; end $$;
        create table closed (id int primary key); grant select on closed to authenticated;
        alter table closed enable row level security; create policy fails on closed using (fails()); insert into closed values (1)`,
  })

  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1_000_000)
  it(`lists what it holds at the moment (FC_SEED=${seed})`, async () => {
    const doings = fc.array(fc.constantFrom('list', 'unlist', 'ask', 'ask', 'ask'), { minLength: 3, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(doings, async (todo) => {
        await plain.db.query('truncate private.documents')
        let isListed = false
        for (const doing of todo) {
          if (doing === 'ask') expect(await run()).toEqual(isListed ? answerOne : 'PERSISTED_QUERY_NOT_FOUND')
          else if (doing === 'list' && !isListed) {
            await plain.db.query('insert into private.documents values ($1, $2)', [hashOf(one), one])
            isListed = true
          } else if (doing === 'unlist') {
            await plain.db.query('delete from private.documents')
            isListed = false
          }
        }
      }),
      { seed, numRuns: 25 },
    )
  })
  it('asks each time as soon as a policy decides, and each role for itself', async () => {
    await plain.db.query('truncate private.documents')
    await plain.db.query('insert into private.documents values ($1, $2)', [hashOf(one), one])
    for (let times = 0; times < 3; times += 1) expect(await run()).toEqual(answerOne)
    await plain.db.query('revoke select on private.documents from anon')
    expect(await run()).toEqual(answerOne)
    expect(await run({ ...mine, role: 'anon' })).toBe('PERSISTED_QUERY_NOT_FOUND')
    await plain.db.query(`grant select on private.documents to anon;
      drop policy all_of_it on private.documents; alter table private.documents enable row level security;
      create policy for_a_while on private.documents using (clock_timestamp() < '${new Date(Date.now() + 2_000).toISOString()}')`)
    expect(await run()).toEqual(answerOne)
    await expect.poll(() => run(), { timeout: 5_000, interval: 200 }).toBe('PERSISTED_QUERY_NOT_FOUND')
    await plain.db.query('alter table private.documents disable row level security')
    expect(await run()).toEqual(answerOne)
  })
  it('lists nothing for a role without SELECT, where requests are explained too', async () => {
    await plain.db.query(`truncate private.documents;
      comment on schema public is '@graphql({"allowlist": {"table": "private.documents"}, "explain": {"enabled": true}})'`)
    await plain.db.query('insert into private.documents values ($1, $2)', [hashOf(one), one])
    const explained = { role: 'authenticated', extensions: { ...mine.extensions, explain: true } }
    expect(await run(explained)).toEqual(answerOne)
    await plain.db.query('revoke select on private.documents from authenticated')
    expect(await run(explained)).toBe('PERSISTED_QUERY_NOT_FOUND')
    await plain.db.query('grant select on private.documents to authenticated')
  })
  it('reports the failure of a listed document as its own', async () => {
    const text = '{ closedCollection { edges { node { id } } } }'
    await plain.db.query('insert into private.documents values ($1, $2)', [hashOf(text), text])
    const { errors } = await plain.graphql(null, { role: 'authenticated', ...persisted(hashOf(text)) })
    expect(errors?.[0]).toMatchObject({
      message: 'not today',
      extensions: { code: 'DATABASE_REFUSED', sqlstate: '42501' },
    })
  })
})

describe('17 allowlist: prepared ahead', () => {
  it('reads, validates and plans listed documents when the schema or the list changed', async () => {
    const whole =
      'query Whole($id: Int!, $texts: [String!]) { noteByPk(id: $id) { text } noteCollection(filter: { text: { in: $texts } }) { edges { cursor } } }'
    await list(whole)
    await list('{ broken', null)
    const revision = await service.revision()
    const database = openDatabase({ url: service.db.url, schemas: ['public'], poolSize: 1 })
    onTestFinished(() => database.close())
    const engine = createEngine(revision)
    const loaded: Loaded = {
      revision,
      engine,
      documents: createDocuments(engine, untrustedCacheLimits),
      listed: createDocuments(engine, allowlistCacheLimits),
      estimates: createEstimates(() => 0),
      isFallback: false,
    }
    let clock = 0
    const texts = createTexts()
    const prepareAhead = createPrepareAhead(database.run, texts, () => clock)
    /** An unprepared document would be parsed now, and this text is not a document. */
    const prepared = (text: string, role: string, name: string | null = null) =>
      loaded.listed.find({ role, text: 'no document {', operationName: name, mark: hashOf(text) })
    expect(() => prepared(whole, 'anon')).toThrow('Syntax Error')
    const arrives = (text: string, role: string) => expect.poll(() => prepared(text, role)).toBeDefined()
    prepareAhead(loaded)
    await arrives(whole, 'authenticated')
    for (const [role, name] of [
      ['anon', null],
      ['anon', 'Whole'],
      ['authenticated', 'Whole'],
    ] as const) {
      const document = prepared(whole, role, name)
      const variables = { id: 2, texts: ['a', 'b'] }
      expect(document.prepare(variables).statements).toBe(document.prepare({ id: 7, texts: [] }).statements)
    }
    const later = '{ later: noteByPk(id: 2) { text } }'
    await list(later)
    clock += 999
    prepareAhead(loaded)
    clock += 1
    expect(() => prepared(later, 'anon')).toThrow('Syntax Error')
    await expect
      .poll(() => {
        prepareAhead(loaded)
        return prepared(later, 'authenticated')
      })
      .toBeDefined()
    expect(texts.get(hashOf(later))).toBe(later)
  })
})

describe('17 allowlist, the setting', () => {
  const read = (...comments: readonly string[]) => {
    const given = catalog({ schemas: comments.map((comment, index) => schema(`s${index}`, `@graphql(${comment})`)) })
    const { annotated, diagnostics } = atOnce(annotate(given))
    return {
      facts: atOnce(buildModel(annotated)).model.manifest.allowlists,
      diagnostics,
      refusal: annotated.refusals[0]?.message ?? null,
    }
  }
  const roles = ['anon', 'authenticated']
  it('names a table and roles, in quotes where names need them', () => {
    expect(read('{}').facts).toBeUndefined()
    expect(read('{"allowlist": {"table": "a.b"}}').facts).toEqual([{ table: { schema: 'a', name: 'b' }, roles }])
    expect(read('{"allowlist": {"table": "My Schema.b c", "roles": []}}').facts).toEqual([
      { table: { schema: 'My Schema', name: 'b c' }, roles: [] },
    ])
    expect(read('{"allowlist": {"table": "\\"a.b\\".\\"c\\"\\"d\\"", "roles": ["x"]}}').facts).toEqual([
      { table: { schema: 'a.b', name: 'c"d' }, roles: ['x'] },
    ])
  })
  it('keeps the lists of several schemas in their order', () => {
    const facts = read('{"allowlist": {"table": "a.b"}}', '{"allowlist": {"table": "c.d", "roles": ["x"]}}').facts
    expect(facts?.map(({ table }) => table?.name)).toEqual(['b', 'd'])
  })
  it.each([
    ['"private.documents"', '"private.documents" is no object.'],
    ['{"tabel": "a.b"}', 'it has no member "tabel"; did you mean "table"?'],
    ['{"table": "documents"}', '"table" names no table as "schema.table"; until it does, nothing is listed.'],
    ['{"table": 5}', '"table" names no table as "schema.table"; until it does, nothing is listed.'],
    ['{"table": "a.b.c"}', '"table" names no table as "schema.table"; until it does, nothing is listed.'],
  ])('keeps documents out and warns the owner of %s', (setting, reason) => {
    const { facts, diagnostics, refusal } = read(`{"allowlist": ${setting}}`)
    expect(facts).toEqual([{ table: null, roles }])
    expect(refusal).toBeNull()
    expect(diagnostics[0]?.message).toBe(
      `The setting "allowlist" in the comment cannot be used as it stands: ${reason}`,
    )
  })
  it('governs the usual roles where the list of roles cannot be read', () => {
    const { facts, diagnostics } = read('{"allowlist": {"table": "a.b", "roles": "anon"}}')
    expect(facts).toEqual([{ table: { schema: 'a', name: 'b' }, roles }])
    expect(diagnostics[0]?.message).toContain('"roles" is no list of names of roles')
  })
})
