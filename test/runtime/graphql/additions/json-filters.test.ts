import { describe, expect, it, onTestFinished } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "jsonFilters": {"enabled": true}})';
  create table doc (id int primary key, body jsonb, raw json);
  create index on doc using gin (body);
  create index on doc ((body #>> '{kind}'));
  insert into doc values
    (1, '{"kind": "a", "tags": ["x", "y"], "size": 3, "deep": {"ok": true}}', '{"a": 1, "a": 2}'),
    (2, '{"kind": "b", "tags": [], "size": "3"}', '[1, 2]'),
    (3, '["kind", 1, null]', '"text"'),
    (4, 'null', null),
    (5, null, 'null'),
    (6, '{"kind": null, "size": 3.0, "size2": 1e2}', null);
  insert into doc select n, jsonb_build_object('kind', 'k' || n) from generate_series(100, 20000) n;
  create table plain (id int primary key, body jsonb);
  comment on table plain is '@graphql({"jsonFilters": {"enabled": false}})';
  grant select on doc, plain to anon;
  analyze;
`

describe('jsonFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  it('refuse values that are not JSON or not a path, with the code of the database', async () => {
    const ask = (condition: string) =>
      service.graphql(`{ docCollection(filter: {body: ${condition}}) { edges { cursor } } }`)
    expect(messagesOf(await ask('{contains: {a: 1}}'))).toEqual(['Invalid input for JSON type'])
    expect(messagesOf(await ask('{contains: "{a"}'))).toEqual(['invalid input syntax for type json'])
    expect(messagesOf(await ask('{path: {text: {eq: "a"}}}'))).toEqual([
      'Field "JSONPathFilter.at" of required type "[String!]!" was not provided.',
    ])
    expect(messagesOf(await ask('{pathExists: {path: "$["}}'))[0]).toMatch(/syntax error/)
  })

  it('are served by indexes', async () => {
    const query = (condition: string) => `{ docCollection(filter: {body: ${condition}}) { edges { node { id } } } }`
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    for (const [condition, index] of [
      [String.raw`{contains: "{\"kind\": \"k200\"}"}`, 'doc_body_idx'],
      [String.raw`{pathMatches: {path: "$.kind == \"k200\""}}`, 'doc_body_idx'],
      ['{hasKey: "deep"}', 'doc_body_idx'],
      ['{path: {at: ["kind"], text: {eq: "k200"}}}', 'doc_expr_idx'],
    ] as const) {
      dataOf(await service.graphql(query(condition)))
      expect(await lastPlan(service, { settings })).toContain(index)
    }
  })

  it('refuse paths that lie in each other too deep, in a document and in a variable', async () => {
    const nested = (depth: number): string =>
      depth === 0 ? '{eq: "1"}' : `{path: {at: ["a"], json: ${nested(depth - 1)}}}`
    const given = (depth: number): object =>
      depth === 0 ? { eq: '1' } : { path: [{ at: ['a'], json: given(depth - 1) }] }
    const ask = async (depth: number): Promise<readonly unknown[]> => [
      await service.graphql(`{ docCollection(filter: {body: ${nested(depth)}}) { edges { cursor } } }`),
      await service.graphql(
        'query Q($body: JSONFilter) { docCollection(filter: {body: $body}) { edges { cursor } } }',
        {
          variables: { body: given(depth) },
        },
      ),
    ]
    for (const answer of await ask(32)) expect(answer).toMatchObject({ data: { docCollection: { edges: [] } } })
    for (const answer of await ask(33))
      expect(answer).toMatchObject({ data: null, errors: [{ extensions: { code: 'DOCUMENT_TOO_DEEP' } }] })
  })

  it('are not there for a table that switches them off', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'plainFilter')).not.toContain('body')
    expect(namesOf(shown, 'docFilter')).toContain('body')
    expect(namesOf(shown, 'JSONPathFilter')).toEqual(['at', 'text', 'number', 'boolean', 'json'])
  })
})

describe('paths of jsonFilters', () => {
  it('that are sent as variables are parameters, with validation off, too', async () => {
    const service = await createTestService({
      sql: sql.replace('"introspection": true', '"validation": {"enabled": false}'),
    })
    onTestFinished(() => service.close())
    const ask = async (at: string): Promise<string> => {
      const document = `query Q($at: [String!]!) {
          docCollection(first: 1, filter: {body: {path: [{at: $at, text: {eq: "a"}}, {at: ["kind"], text: {eq: "a"}}]}}) {
            edges { node { id } }
          }
        }`
      dataOf(await service.graphql(document, { variables: { at: [at] } }))
      return service.exchanges.at(-1)?.statements[0]?.text ?? ''
    }
    const text = await ask('kind')
    expect(text).toBe(await ask('size'))
    expect(text).toContain(`'{"kind"}'`)
  })
})
