import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService } from '../support/service.ts'

/** No value of a user ever becomes part of a statement's text; it comes back as it was sent. */

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text, tags text[], big bigint, amount numeric, ratio float8, settings jsonb, code varchar(4));
  create function echo(value text) returns text immutable language sql as 'select value';
  create function tags_of(tags text[]) returns text[] immutable language sql as 'select tags';
  grant usage on schema public to anon;
  grant all on note to anon;
`

const service = forSuite(createTestService, { sql })
beforeEach(() => service.db.query('truncate note'))

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    `'; drop table note; --`,
    `"`,
    `\\`,
    `\\'`,
    `$1`,
    `$$`,
    `$body$`,
    `{}`,
    `{"a"}`,
    `NULL`,
    `null`,
    `%`,
    `E'\\n'`,
    `\u2028`,
    `ﬀ`,
    `\u202e`,
    `__proto__`,
    `:x`,
    `?`,
    '`',
    '/* */',
  ),
)
/** Postgres' text cannot hold a zero character. */
const text = anyText.map((value) => value.replaceAll('\0', ''))
const run = { numRuns: 60 }

async function textsOf(query: string, variables: Record<string, unknown> = {}): Promise<readonly string[]> {
  service.exchanges.length = 0
  await service.graphql(query, { variables })
  return service.exchanges.flatMap(({ statements }) => statements.map((statement) => statement.text))
}

describe('texts of any kind', () => {
  it('come back as they were sent, as variables and as literals', async () => {
    const query = 'query($a: String!, $b: [String]!) { echo(value: $a) tagsOf(tags: $b) }'
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.option(text)), async (value, list) => {
        const expected = { echo: value, tagsOf: list }
        expect(dataOf(await service.graphql(query, { variables: { a: value, b: list } }))).toEqual(expected)
        const literal = `{ echo(value: ${JSON.stringify(value)}) tagsOf(tags: ${JSON.stringify(list)}) }`
        expect(dataOf(await service.graphql(literal))).toEqual(expected)
      }),
      run,
    )
  })
  it('are stored and found as they were sent', async () => {
    const write =
      'mutation($rows: [NoteInsertInput!]!) { insertIntoNoteCollection(objects: $rows) { records { body tags } } }'
    const find = 'query($body: String!) { noteCollection(filter: {body: {eq: $body}}) { edges { node { body } } } }'
    let id = 0
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), async (body, tags) => {
        id += 1
        const written = dataOf(await service.graphql(write, { variables: { rows: [{ id, body, tags }] } }))
        expect(written.insertIntoNoteCollection.records).toEqual([{ body, tags }])
        const found = dataOf(await service.graphql(find, { variables: { body } }))
        expect(found.noteCollection.edges[0]).toEqual({ node: { body } })
      }),
      run,
    )
  })
  it('are refused with one clear sentence where they hold a zero character or half a character', async () => {
    const write = 'mutation($rows: [NoteInsertInput!]!) { insertIntoNoteCollection(objects: $rows) { affectedCount } }'
    for (const body of ['\0', 'a\0b']) {
      expect(
        messagesOf(await service.graphql('query($a: String!) { echo(value: $a) }', { variables: { a: body } })),
      ).toEqual(['invalid byte sequence for encoding "UTF8": 0x00'])
      const row = { id: 1, body }
      expect(messagesOf(await service.graphql(write, { variables: { rows: [row] } }))).toEqual([
        'invalid byte sequence for encoding "UTF8": 0x00',
      ])
      expect(messagesOf(await service.graphql(write, { variables: { rows: [row, row] } }))).toEqual([
        'unsupported Unicode escape sequence',
      ])
    }
    const half = '\ud800'
    const row = { id: 1, body: half }
    const read = 'query($a: String!, $b: [String]!) { echo(value: $a) tagsOf(tags: $b) }'
    for (const [query, variables] of [
      [write, { rows: [row] }],
      [write, { rows: [row, row] }],
      [write, { rows: [{ id: 1, tags: [half] }] }],
      ['mutation($a: String!) { updateNoteCollection(set: {body: $a}) { affectedCount } }', { a: `a${half}b` }],
      [read, { a: half, b: [] }],
      [read, { a: '😀', b: [half] }],
    ] as const) {
      expect(messagesOf(await service.graphql(query, { variables }))).toEqual([
        'Invalid input for String type. Half of a surrogate pair is not a character',
      ])
    }
    expect(dataOf(await service.graphql('{ __typename }'))).toEqual({ __typename: 'Query' })
  })
})

describe('the text of a statement', () => {
  const marker = 'c0ffee'
  const value = text.map((value) => `${value}${marker}${value}`)
  const queries: readonly ((value: string, number: number) => string)[] = [
    (value) => `{ echo(value: ${value}) tagsOf(tags: [${value}, null]) }`,
    (value, number) =>
      `{ noteCollection(offset: ${number}, filter: {body: {eq: ${value}, like: ${value}, in: [${value}]}, tags: {contains: ${value}}, id: {gt: ${number}}, big: {lt: ${number}}, ratio: {eq: ${number}.5}, or: [{not: {body: {regex: ${value}}}}, {amount: {eq: ${value}}}]}) { edges { node { id } } } }`,
    (value, number) =>
      `mutation { insertIntoNoteCollection(objects: [{id: ${number}, body: ${value}, tags: [${value}], settings: ${value}}]) { affectedCount } }`,
    (value, number) =>
      `mutation { insertIntoNoteCollection(objects: [{id: ${number}, body: ${value}}, {id: ${number}, amount: ${value}}]) { affectedCount } }`,
    (value, number) =>
      `mutation { updateNoteCollection(set: {body: ${value}, amount: ${value}, id: ${number}}, filter: {id: {eq: ${number}}}, atMost: ${number}) { records { id } } }`,
    (value, number) =>
      `mutation { deleteFromNoteCollection(filter: {id: {eq: ${number}}, body: {startsWith: ${value}}}, atMost: ${number}) { records { id } } }`,
    (_, number) => `{ noteByPk(id: ${number}) { body } }`,
  ]
  it.each(queries.map((query, index) => [index, query] as const))(
    'is the same whatever the literals of document %i are',
    async (_, query) => {
      const plain = await textsOf(query('"x"', 7))
      expect(plain).toHaveLength(1)
      await fc.assert(
        fc.asyncProperty(value, fc.integer({ min: 1_000_000_001, max: 2_000_000_000 }), async (odd, number) => {
          const texts = await textsOf(query(JSON.stringify(odd), number))
          expect(texts).toEqual(plain)
          expect(texts.join()).not.toContain(marker)
        }),
        { numRuns: 25 },
      )
    },
  )
  it('is the same whatever the variables are, even cursors, node ids and orders of length one', async () => {
    const query =
      'query($after: Cursor, $id: ID!, $f: NoteFilter) { noteCollection(after: $after, filter: $f) { edges { node { id } } } node(nodeId: $id) { nodeId } }'
    const variables = (body: string, number: number) => ({
      after: Buffer.from(`[${number}]`).toString('base64'),
      id: Buffer.from(`["public", "note", ${number}]`).toString('base64'),
      f: { body: { eq: body, in: [body, body] }, tags: { overlaps: [body] } },
    })
    const plain = await textsOf(query, variables('x', 1))
    await fc.assert(
      fc.asyncProperty(value, fc.integer({ min: 1_000_000_001, max: 2_000_000_000 }), async (odd, number) => {
        expect(await textsOf(query, variables(odd, number))).toEqual(plain)
      }),
      { numRuns: 25 },
    )
  })
  it('holds page sizes as whole numbers only', async () => {
    const texts = await textsOf('query($n: Int) { noteCollection(first: $n) { edges { node { id } } } }', { n: 17 })
    expect(texts.join()).toContain('limit 17')
    const answer = await service.graphql('query($n: Int) { noteCollection(first: $n) { edges { node { id } } } }', {
      variables: { n: '17; drop table note' },
    })
    expect(messagesOf(answer)).toEqual([
      'Variable "$n" got invalid value "17; drop table note"; Int cannot represent non-integer value: "17; drop table note"',
    ])
  })
})
