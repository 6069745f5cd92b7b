import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
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

  const filtered = rowsFound(() => service, 'docCollection')
  const found = (condition: string, column = 'body', variables: Record<string, unknown> = {}, head = '') =>
    filtered(`{${column}: ${condition}}`, variables, head)

  it.each([
    [String.raw`{contains: "{\"size\": 3}"}`, [1, 6]],
    [String.raw`{contains: "[\"kind\"]"}`, [3]],
    [String.raw`{contains: "\"kind\""}`, [3]],
    [String.raw`{containedBy: "[1, null, \"kind\", 2]"}`, [3, 4]],
    ['{contains: "{}"}', [1, 2, 6]],
    ['{contains: null}', []],
    ['{hasKey: "kind"}', [1, 2, 3, 6]],
    ['{hasAnyKey: ["deep", "size2"]}', [1, 6]],
    ['{hasAllKeys: ["kind", "size"]}', [1, 2, 6]],
    ['{hasAllKeys: []}', [1, 2, 3, 4, 6]],
    ['{hasAnyKey: []}', []],
    ['{eq: "null"}', [4]],
    ['{is: NULL}', [5]],
    ['{neq: "null"}', [1, 2, 3, 6]],
    [String.raw`{in: ["null", "[\"kind\", 1, null]"]}`, [3, 4]],
    ['{path: {at: ["kind"], text: {gte: "a"}}}', [1, 2]],
    ['{path: [{at: ["size"], number: {eq: "3"}}]}', [1, 6]],
    ['{path: {at: ["size"], text: {eq: "3"}}}', [1, 2]],
    ['{path: {at: ["size"], number: {is: NULL}}}', [2, 3, 4, 5]],
    ['{path: {at: ["deep", "ok"], boolean: {eq: true}}}', [1]],
    ['{path: {at: ["tags", "-1"], text: {in: ["y"]}}}', [1]],
    ['{path: {at: ["1"], number: {lt: "2"}}}', [3]],
    ['{path: {at: ["kind"], json: {eq: "null"}}}', [6]],
    ['{path: {at: ["kind"], json: {is: NULL}}}', [3, 4, 5]],
    ['{path: {at: [], json: {hasKey: "deep"}}}', [1]],
    ['{path: {at: ["deep"], json: {path: {at: ["ok"], boolean: {eq: true}}}}}', [1]],
    ['{path: {at: ["kind"]}}', [1, 2, 3, 4, 5, 6]],
    ['{path: []}', [1, 2, 3, 4, 5, 6]],
    ['{path: null}', [1, 2, 3, 4, 5, 6]],
    [String.raw`{pathExists: {path: "$.tags[*] ? (@ == \"x\")"}}`, [1]],
    [String.raw`{pathExists: {path: "$.tags[*] ? (@ == $t)", variables: "{\"t\": \"y\"}"}}`, [1]],
    ['{pathMatches: {path: "$.size > 2"}}', [1, 6]],
    ['{pathMatches: {path: "$.size"}}', []],
    ['{pathExists: null}', []],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('are those of json as jsonb', async () => {
    expect(await found(String.raw`{eq: "{\"a\": 2}"}`, 'raw')).toEqual([1])
    expect(await found(String.raw`{contains: "2"}`, 'raw')).toEqual([2])
    expect(await found(String.raw`{hasKey: "text"}`, 'raw')).toEqual([3])
    expect(await found('{path: {at: ["a"], number: {eq: "2"}}}', 'raw')).toEqual([1])
  })

  it('take variables for operands, paths and whole conditions', async () => {
    const head = '($at: [String!]!, $n: BigFloat, $absent: JSON, $whole: [JSONPathFilter!])'
    const whole = [{ at: ['kind'], text: { eq: 'a' } }]
    const condition = '{contains: $absent, path: [{at: $at, number: {eq: $n}}], and: $whole}'.replace(
      ', and: $whole',
      '',
    )
    expect(
      await found(condition, 'body', { at: ['size'], n: '3', whole }, head.replace(', $whole: [JSONPathFilter!]', '')),
    ).toEqual([1, 6])
    expect(await found('{path: $whole}', 'body', { whole }, '($whole: [JSONPathFilter!])')).toEqual([1])
  })

  it('refuse what is no JSON and no path, with the code of the database', async () => {
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
    try {
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
    } finally {
      await service.close()
    }
  })
})
