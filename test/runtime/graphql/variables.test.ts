import * as fc from 'fast-check'
import {
  getVariableValues,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  Kind,
  parse,
  type GraphQLInputType,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import { scalars } from '../../../runtime/engine/schema/scalars.ts'
import { declaredVariables } from '../../../runtime/graphql/prepared/variables.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { createVariableReader } from '../../../runtime/graphql/variables/read.ts'

/** A request's variables as read without graphql-js, and as read by graphql-js itself. */

const colour = new GraphQLEnumType({
  name: 'Colour',
  values: { RED: { value: 'red' }, GREEN: {}, green2: {}, green10: {} },
})
const named: readonly GraphQLInputType[] = [...Object.values(scalars), colour]

const wrapped = (of: GraphQLInputType): fc.Arbitrary<GraphQLInputType> =>
  fc.constantFrom(
    of,
    new GraphQLNonNull(of),
    new GraphQLList(of),
    new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(of))),
    new GraphQLList(new GraphQLList(of)),
  )

const fieldNames = ['id', 'name', 'names', 'Name', 'constructor', 'colour', 'item2', 'item10']

/** An object type whose fields are of any type, of objects too. */
const objectType = (name: string, others: readonly GraphQLInputType[]): fc.Arbitrary<GraphQLInputObjectType> =>
  fc
    .tuple(
      fc.dictionary(
        fc.constantFrom(...fieldNames),
        fc.tuple(fc.constantFrom(...named, ...others).chain(wrapped), fc.boolean()),
        { minKeys: 1, maxKeys: 6 },
      ),
      fc.boolean(),
    )
    .map(
      ([fields, isOneOf]) =>
        new GraphQLInputObjectType({
          name,
          isOneOf,
          fields: Object.fromEntries(
            Object.entries(fields).map(([field, [type, hasDefault]]) => [
              field,
              { type, ...(hasDefault && type === scalars.Int && { defaultValue: 7 }) },
            ]),
          ),
        }),
    )

const schemaOf = (types: readonly GraphQLInputType[]): GraphQLSchema =>
  new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: { q: { type: GraphQLString, args: Object.fromEntries(types.map((type, at) => [`a${at}`, { type }])) } },
    }),
  })

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    'RED',
    'red',
    'GREN',
    'green1',
    '1',
    '2024-02-29',
    true,
    0,
    -1,
    1.5,
    2 ** 31,
    1e300,
  ),
  fc.constantFrom<unknown>(12345678901234567890n, { type: 'Point', coordinates: [1, 2] }, { type: 'Point' }),
  fc.string(),
  fc.integer(),
)
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 13 }),
    fc.dictionary(fc.constantFrom(...fieldNames, 'nam', 'Item', '__proto__x'), tie('value'), { maxKeys: 5 }),
  ),
})).value

/** A value that mostly fits. */
function valueOf(type: GraphQLInputType, depth: number): fc.Arbitrary<unknown> {
  if (type instanceof GraphQLNonNull) return mostly(valueOf(type.ofType, depth))
  if (type instanceof GraphQLList) return mostly(fc.array(valueOf(type.ofType, depth + 1), { maxLength: 3 }))
  if (type instanceof GraphQLEnumType) return mostly(fc.constantFrom(...type.getValues().map(({ name }) => name)))
  if (type instanceof GraphQLInputObjectType) {
    if (depth > 4) return fc.constant({})
    const members = Object.values(type.getFields()).map(
      (field) => [field.name, valueOf(field.type, depth + 1)] as const,
    )
    return mostly(fc.record(Object.fromEntries(members), { requiredKeys: [] }))
  }
  return mostly(fc.constantFrom(...(fitting[type.name as ScalarName] ?? ['text'])))
}
const mostly = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: anyValue }, { weight: 1, arbitrary: fc.constant(null) })
const fitting: Partial<Record<ScalarName, readonly unknown[]>> = {
  Int: [1, 2_147_483_647],
  Float: [1.5, 3],
  Boolean: [true, false],
  ID: ['a', 7],
  BigInt: [7, '8', 12345678901234567890n],
  GeoJSON: [{ type: 'Point', coordinates: [1, 2], crs: null }],
}

const asked = fc
  .constant(null)
  .chain(() => objectType('Inner', []))
  .chain((inner) => objectType('Outer', [inner]).map((outer) => [inner, outer] as const))
  .chain(([inner, outer]) =>
    fc.array(fc.constantFrom(...named, inner, outer).chain(wrapped), { minLength: 1, maxLength: 3 }),
  )
  .chain((types) =>
    fc.record({
      types: fc.constant(types),
      given: fc.record(Object.fromEntries(types.map((type, at) => [`v${at}`, valueOf(type, 0)])), { requiredKeys: [] }),
    }),
  )

const bare = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(bare)
  if (typeof value !== 'object' || value === null) return value
  return Object.assign(
    Object.create(null),
    Object.fromEntries(Object.entries(value).map(([name, one]) => [name, bare(one)])),
  )
}

function byReference(schema: GraphQLSchema, text: string, given: Record<string, unknown>): unknown {
  const [operation] = parse(text).definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('there is one operation')
  const read = getVariableValues(schema, operation.variableDefinitions ?? [], bare(given) as typeof given, {
    maxErrors: 50,
  })
  return 'errors' in read && read.errors !== undefined
    ? read.errors.map(({ message, locations }) => ({
        message,
        locations: locations?.map(({ line, column }) => ({ line, column })),
      }))
    : JSON.stringify(read.coerced, bigintAsText)
}

function byOurs(schema: GraphQLSchema, text: string, given: Record<string, unknown>): unknown {
  const [operation] = parse(text).definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('there is one operation')
  try {
    const read = createVariableReader(declaredVariables(schema, operation.variableDefinitions ?? []))
    return JSON.stringify(read(given), bigintAsText)
  } catch (error) {
    if (error instanceof Refusal) return error.errors.map(({ message, locations }) => ({ message, locations }))
    throw error
  }
}

/** Long values are cut, which graphql-js does not: the rest of a message is the same. */
function expectSame(ours: unknown, reference: unknown): void {
  if (!Array.isArray(ours) || !Array.isArray(reference)) return expect(ours).toEqual(reference)
  const restored = ours.map((error: { readonly message: string }, place) => {
    const { message } = (reference[place] ?? error) as { readonly message: string }
    const [start = '', end] = [error.message.split('…')[0], error.message.split('…').at(-1) ?? '']
    const isCut = error.message.includes('…')
    return isCut && message.startsWith(start) && message.endsWith(end) ? { ...error, message } : error
  })
  expect(restored).toEqual(reference)
}

const bigintAsText = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)

const textOf = (types: readonly GraphQLInputType[]): string =>
  `query (${types.map((type, at) => `$v${at}: ${String(type)}`).join(',\n  ')}) { q }`

describe('variables without graphql-js', () => {
  const types = [new GraphQLNonNull(scalars.Int), colour, new GraphQLList(scalars.BigInt)]
  const schema = schemaOf(types)
  it.each<[string, Record<string, unknown>]>([
    ['fit', { v0: 1, v1: 'RED', v2: [1, 12345678901234567890n] }],
    ['do not', { v0: 2 ** 40, v1: 'RAD', v2: [[1], {}] }],
    ['are absent', {}],
    ['are null', { v0: null, v1: null, v2: null }],
    [
      'are shown to some depth',
      { v0: { a: { b: { c: {} } }, d: [[[1]]] }, v1: 7, v2: Array.from({ length: 60 }, () => []) },
    ],
  ])('are read as by graphql-js where they %s', (_title, given) => {
    expectSame(byOurs(schema, textOf(types), given), byReference(schema, textOf(types), given))
  })

  it('are read as by graphql-js, whatever their types', () => {
    fc.assert(
      fc.property(asked, ({ types: drawn, given }) => {
        const made = schemaOf(drawn)
        expectSame(byOurs(made, textOf(drawn), given), byReference(made, textOf(drawn), given))
      }),
      { numRuns: 400 },
    )
  })
})
