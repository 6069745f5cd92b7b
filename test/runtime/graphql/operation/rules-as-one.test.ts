import fc from 'fast-check'
import { buildSchema, parse, specifiedRules, validate, type GraphQLError, type ValidationRule } from 'graphql'
import { describe, expect, it } from 'vitest'
import { asOneRule } from '../../../../runtime/graphql/operation/validation.ts'

const schema = buildSchema(`
  directive @once on FIELD
  directive @later(at: Int!) on FIELD
  input Filter @oneOf { id: Int, name: String }
  enum Order { UP DOWN }
  type Post { id: Int!, title(cut: Int! = 3): String, author: Author, titled(as: String!): String }
  type Author { id: Int!, posts(filter: Filter, order: Order, ids: [Int!]): [Post!] }
  type Query { post: Post, author(id: Int!): Author }
  type Subscription { post: Post, author: Author }
`)

const deep = `__schema { types { ${'fields { type { '.repeat(4)}name${' } }'.repeat(4)} } }`

/** At least one for each rule, and several for those that look at nothing below some node. */
const faulty: readonly string[] = [
  'type Post { id: Int }',
  'query Same { post { id } } query Same { author(id: 1) { id } }',
  '{ post { id } } query Other { post { id } }',
  'subscription { post { id } author { id } }',
  'query ($x: Nothing) { post { id } ... on Missing { id } }',
  'fragment Scalar on Int { id } { post { ...Scalar ... on Order { id } } }',
  'query ($x: Post) { post { id } }',
  '{ post author(id: 1) { id { deeper } } }',
  '{ post { missing author { posts { nothing } } } }',
  'fragment Same on Post { id } fragment Same on Post { id } { post { ...Same } }',
  '{ post { ...Missing } }',
  'fragment Unused on Post { id missing }  { post { id } }',
  '{ author(id: 1) { ... on Post { id } } }',
  'fragment A on Post { ...B } fragment B on Post { ...A } { post { ...A } }',
  'query ($x: Int, $x: Int) { author(id: $x) { id } }',
  '{ author(id: $x) { id } }',
  'query ($x: Int) { post { id } }',
  '{ post @nothing { id @deprecated @include(if: true) } }',
  '{ post { id @once @once title @later } }',
  '{ post(what: 1) { title(cut: 1, what: 2) } }',
  '{ author(id: 1, id: 2) { id } }',
  '{ author(id: "one") { posts(filter: { id: "x", what: { id: 1 } }, order: SIDEWAYS, ids: [1, "a", null]) { id } } }',
  '{ author { posts(filter: { id: 1, name: "x" }) { titled } } }',
  'query ($id: Int, $s: String) { author(id: $id) { posts(ids: $s, filter: { id: $s }) { id } } }',
  '{ post { same: id same: title } }',
  '{ author(id: 1) { posts(filter: { id: 1, id: 2 }) { id } } }',
  `{ ${deep} }`,
  // Of an introspection that is too deep, the rule looks at nothing further in.
  `{ __schema { types { name } ${deep} } again: ${deep} }`,
]

const problems = (text: string, rules: readonly ValidationRule[]): readonly GraphQLError[] =>
  validate(schema, parse(text), rules)

describe('rules as one rule', () => {
  it('are tried with a document for each of them', () => {
    const quiet = specifiedRules.filter((rule) => faulty.every((text) => problems(text, [rule]).length === 0))
    expect(quiet.map(({ name }) => name)).toEqual([])
  })
  it.each(faulty)('find in %s what they find by themselves', (text) => {
    expect(problems(text, [asOneRule(specifiedRules)])).toEqual(problems(text, specifiedRules))
  })
  it('find the same, in the same order, whatever stands together', () => {
    fc.assert(
      fc.property(fc.subarray([...faulty]), fc.subarray([...specifiedRules]), (texts, rules) => {
        const text = texts.join('\n')
        fc.pre(text !== '')
        expect(problems(text, [asOneRule(rules)])).toEqual(problems(text, rules))
      }),
    )
  })
})
