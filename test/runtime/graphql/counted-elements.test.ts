import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindValue } from '../../../runtime/graphql/run/bind.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** Postgres compares the elements of some operands one by one and looks for no cancellation: their number is bounded. */

const enabled = Object.fromEntries(
  ['jsonFilters', 'arrayFilters', 'enumArrays', 'search'].map((key) => [key, { enabled: true }]),
)
const service = forSuite(createTestService, {
  sql: `comment on schema public is '@graphql(${JSON.stringify({ inflect_names: true, ...enabled })})';
  create type mood as enum ('fine');
  create table doc (id int primary key, tags text[], ids bigint[], moods mood[], body jsonb, words text);
  grant select on doc to anon`,
})

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, place) => `t${place}`)
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, place) => place)
const object = (count: number): object => Object.fromEntries(texts(count).map((name) => [name, ', " \\']))

const ask = async (type: 'filter: DocFilter' | 'orderBy: [DocOrderBy!]', input: unknown) => {
  const [name = ''] = type.split(':')
  const document = `query ($i: ${type.slice(name.length + 2)}) { docCollection(${name}: $i) { edges { cursor } } }`
  const { data, errors } = await service.graphql(document, { variables: { i: input } })
  return errors?.[0]?.extensions.code ?? data
}
const filtered = (column: string, operator: string, operand: unknown) =>
  ask('filter: DocFilter', { [column]: { [operator]: operand } })

const nothing = { docCollection: { edges: [] } }
const refusal = 'OPERAND_LIMIT_EXCEEDED'

const counted = { kind: 'scalar', maxLength: null, counted: 'json' } as const

describe('an operand whose elements are compared one by one', () => {
  it.each<[string, string, (count: number) => unknown]>([
    ['tags', 'contains', texts],
    ['tags', 'containedBy', texts],
    ['tags', 'overlaps', texts],
    ['ids', 'overlaps', numbers],
    ['moods', 'overlaps', (count) => Array.from({ length: count }, () => 'fine')],
    ['body', 'contains', (count) => JSON.stringify(texts(count))],
    ['body', 'contains', (count) => JSON.stringify({ a: [object(count - 1), []] })],
    ['body', 'containedBy', (count) => JSON.stringify(texts(count))],
    ['body', 'hasAnyKey', texts],
    ['body', 'hasAllKeys', texts],
  ])('has at most 1,000: %s %s', async (column, operator, operand) => {
    expect(await filtered(column, operator, operand(1_000))).toEqual(nothing)
    expect(await filtered(column, operator, operand(1_001))).toBe(refusal)
  })

  it('has at most 1,000 words in an order by rank', async () => {
    const order = (words: number) =>
      ask('orderBy: [DocOrderBy!]', { wordsRank: { query: texts(words).join('-'), direction: 'DescNullsLast' } })
    expect(await order(1_000)).toEqual(nothing)
    expect(await order(1_001)).toBe(refusal)
  })

  it('is counted where the document gives it literally', async () => {
    const document = `{ docCollection(filter: {tags: {overlaps: ${JSON.stringify(texts(1_001))}}}) { edges { cursor } } }`
    expect((await service.graphql(document)).errors?.[0]?.extensions.code).toBe(refusal)
  })

  it('is not one that Postgres looks up by a hash, or compares as a whole', async () => {
    expect(await filtered('id', 'in', numbers(5_000))).toEqual(nothing)
    expect(await filtered('tags', 'eq', texts(5_000))).toEqual(nothing)
    expect(await filtered('words', 'search', { query: texts(1_001).join(' ') })).toEqual(nothing)
  })

  it('is counted in one pass, also where a text in it does not end', () => {
    const unended = `"${'\\"'.repeat(400_000)}`
    const value = { slot: { kind: 'constant', value: unended }, encoding: counted } as const
    // Read again from each quotation mark it would take minutes, beyond the time of a test.
    expect(bindValue(value, {})).toBe(unended)
  })

  it('is JSON of as many elements as separators stand between, whatever its texts hold', () => {
    const size = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, one) => sum + size(one), 0) || 1
        : 1
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.integer({ min: 900, max: 1_100 }), (value, count) => {
        const text = JSON.stringify([value, ...texts(count)])
        const bound = () => bindValue({ slot: { kind: 'constant', value: text }, encoding: counted }, {})
        if (size(JSON.parse(text)) <= 1_000) expect(bound()).toBe(text)
        else expect(bound).toThrow('more than 1000 elements')
      }),
    )
  })
})
