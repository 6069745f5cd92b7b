import { getIntrospectionQuery } from 'graphql'
import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService } from '../support/service.ts'

/** Whatever one request asks for, what it takes is bounded, and the next one is answered. */

const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create table note (id int primary key);
  create function text_of(n int) returns text stable language sql as $$ select repeat('x', n) $$;
  create function note_of(n int) returns text volatile language sql as $$ insert into note values (n); select repeat('x', n) $$;
  grant usage on schema public to anon;
  grant all on note to anon;
`

const service = forSuite(createTestService, { sql })

describe('an answer of many megabytes', () => {
  const read = 'query($n: Int!) { text_of(n: $n) }'
  const write = 'mutation($n: Int!) { note_of(n: $n) }'
  const tooLarge = ['The answer is larger than 32 MiB; select less of it.']

  it('is given while it is below the limit', async () => {
    expect(dataOf(await service.graphql(read, { variables: { n: 20_000_000 } })).text_of).toHaveLength(20_000_000)
  })
  it('is refused above it, and the next requests are answered', async () => {
    const answer = await service.graphql(read, { variables: { n: 60_000_000 } })
    expect(messagesOf(answer)).toEqual(tooLarge)
    expect(answer.errors?.[0]?.extensions).toEqual({ code: 'ANSWER_TOO_LARGE' })
    for (let n = 0; n < 6; n += 1)
      expect(dataOf(await service.graphql(read, { variables: { n } }))).toEqual({ text_of: 'x'.repeat(n) })
  })
  it('keeps nothing of a mutation that it ends', async () => {
    expect(messagesOf(await service.graphql(write, { variables: { n: 60_000_000 } }))).toEqual(tooLarge)
    expect((await service.db.query('select from note')).rowCount).toBe(0)
  })
})

describe('variables full of mistakes', () => {
  it('are reported fifty times', async () => {
    const answer = await service.graphql(
      'query($n: [Int!]) { noteCollection(filter: {id: {in: $n}}) { edges { cursor } } }',
      {
        variables: { n: Array.from({ length: 100_000 }, () => 'x') },
      },
    )
    const messages = messagesOf(answer)
    expect(messages).toHaveLength(51)
    expect(messages[0]).toBe(
      'Variable "$n" got invalid value "x" at "n[0]"; Int cannot represent non-integer value: "x"',
    )
    expect(messages.at(-1)).toBe('Too many errors processing variables, error limit reached. Execution aborted.')
  })
})

describe('introspection', () => {
  const times = (count: number, make: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => make(index)).join(' ')
  const depth = '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }'

  it('answers what tools ask, and no document made to multiply types by fields', async () => {
    expect(dataOf(await service.graphql(getIntrospectionQuery())).__schema.queryType).toMatchObject({ name: 'Query' })
    const many = times(500, (index) => `a${index}: fields { name }`)
    for (const query of [
      `{ __schema { types { ${many} } } }`,
      `{ __schema { types { ...F } } } fragment F on __Type { ${many} }`,
      `{ ${times(200, (index) => `t${index}: __schema { types { name } }`)} }`,
    ]) {
      const answer = await service.graphql(query)
      expect(messagesOf(answer)).toEqual(['The document selects more than 500 fields of __schema and __type.'])
      expect(answer.errors?.[0]?.extensions.code).toBe('DOCUMENT_TOO_LARGE')
    }
  })
  it('goes round in no circles, with validation off either', async () => {
    expect(messagesOf(await service.graphql(depth))).toEqual(['Maximum introspection depth exceeded'])
    await service.db.query(
      `comment on schema public is '@graphql({"introspection": true, "validation": {"enabled": false}})'`,
    )
    expect(messagesOf(await service.graphql(depth))).toEqual(['Maximum introspection depth exceeded'])
  })
})
