import { readFileSync } from 'node:fs'
import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import { LazyObjectType } from '../../../runtime/engine/schema/types.ts'
import { buildView } from '../../../compiler/additions/engine.ts'

/**
 * The assumptions of the lazy schema about graphql-js beyond its documentation: validation asks a schema only these methods, and
 * a type only for the fields that a document names. package.json pins graphql to its minor version for that reason.
 */

/** Those that the lazy schema overrides, and those that read nothing of what the constructor collected. */
const known = new Set([
  'getQueryType',
  'getMutationType',
  'getSubscriptionType',
  'getRootType',
  'getType',
  'getTypeMap',
  'getPossibleTypes',
  'isSubType',
  'getImplementations',
  'getDirectives',
  'getDirective',
])

const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

const demo = (): Manifest => {
  const { revision } = readJson('../../../generated/current.json') as { readonly revision: string }
  return readJson(`../../../generated/${revision}/manifest.json`) as Manifest
}

const documents = [
  '{ postCollection(first: 1, filter: { title: { eq: "a" } }) { edges { cursor node { id title } } pageInfo { endCursor } } }',
  'query ($id: ID!) { node(nodeId: $id) { __typename nodeId ... on Post { title } } }',
  'mutation { insertIntoPostCollection(objects: [{ title: "a" }]) { affectedCount records { id } } }',
  '{ postCollection { nothing } } fragment A on Nowhere { id } fragment B on Post { ... on Account { email } }',
  'subscription { postCollection { totalCount } }',
]

describe('graphql-js', () => {
  it.each(documents)('validates by the methods that the lazy schema overrides: %s', (text) => {
    const { schema, complete } = buildView(demo(), 'authenticated')
    const asked = new Set<string>()
    const watched = new Proxy(schema, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        asked.add(String(name))
        return value.bind(target)
      },
    })
    const errors = validate(watched, parse(text)).map(({ message }) => message)
    expect([...asked].filter((name) => !known.has(name) && name !== 'constructor')).toEqual([])
    expect(errors).toEqual(validate(complete(), parse(text)).map(({ message }) => message))
  })

  it('makes no field that a document does not name', () => {
    const made: string[] = []
    const find = (name: string) => () => {
      made.push(name)
      return { type: GraphQLString }
    }
    const type = new LazyObjectType('Query', 'A type', () => ({ find, names: () => ['one', 'two', 'three'] }))
    class Schema extends GraphQLSchema {
      override getQueryType(): GraphQLObjectType {
        return type
      }
      override getRootType(): GraphQLObjectType {
        return type
      }
      override getType(): GraphQLObjectType {
        return type
      }
    }
    const empty = new GraphQLObjectType({ name: 'Query', fields: {} })
    expect(validate(new Schema({ query: empty, assumeValid: true }), parse('{ two again: two }'))).toEqual([])
    expect(made).toEqual(['two'])
  })

  it('makes each field once, alone or with all of them', () => {
    const made: string[] = []
    const names = ['one', 'two', '__proto__', 'three']
    const find = (name: string) =>
      names.includes(name)
        ? () => {
            made.push(name)
            return { type: GraphQLString }
          }
        : undefined
    const type = new LazyObjectType('Query', 'A type', () => ({ find, names: () => names }))
    const { two } = type.getFields()
    expect(Object.values(type.getFields()).map(({ name }) => name)).toEqual(names)
    expect(type.getFields()['two']).toBe(two)
    expect(Object.entries(type.getFields()).map(([name, field]) => [name, field.name])).toEqual(
      names.map((name) => [name, name]),
    )
    expect(type.getFields()['toString']).toBeUndefined()
    expect(made).toEqual(['two', 'one', '__proto__', 'three'])
  })
})
