import { parseValue, valueFromASTUntyped, type GraphQLObjectType } from 'graphql'
import type { ArgumentFacts, EntityFacts, FunctionFacts, ValueType } from '../../contract/manifest.ts'
import type { Visible } from '../view.ts'
import { collectionArguments } from './collections.ts'
import { LazyObjectType, type FieldMakers } from './lazy-object.ts'
import { resultOf } from './rows.ts'
import { scalars } from './scalars.ts'
import { field, nonNull, type Field, type Types } from './types.ts'
import { writeMakers } from './writes.ts'

/** The root types (spec/graphql.md 1.5). Fields are sorted by name in byte order; names are ASCII, so code units do. */

/** The makers by name of their fields, the first to take a name keeping it. */
function sorted(makers: readonly (readonly [name: string, make: () => Field])[]): FieldMakers {
  const firsts = new Map<string, () => Field>()
  for (const [name, make] of makers) if (!firsts.has(name)) firsts.set(name, make)
  return new Map([...firsts].sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)))
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

export const makeQuery = (visible: Visible, types: Types): GraphQLObjectType =>
  new LazyObjectType('Query', 'Everything that can be read.', () =>
    sorted([
      ['node', () => nodeField(types)],
      ...visible.exposed.filter(({ root }) => root).flatMap((entity) => readMakers(visible, entity, types)),
      ...callMakers(visible, types, (fn) => !fn.volatile),
    ]),
  )

const nodeField = (types: Types): Field =>
  field(types.node, { kind: 'node' }, 'Any row by its node id; null when there is none that you may see.', {
    nodeId: { type: nonNull(scalars.ID), description: 'The node id of the row.' },
  })

type Makers = readonly (readonly [name: string, make: () => Field])[]

function readMakers(visible: Visible, entity: EntityFacts, types: Types): Makers {
  const base = lowerFirst(entity.name)
  const collection = [`${base}Collection`, () => collectionField(entity, types)] as const
  const key = keyColumns(visible, entity)
  return key === null ? [collection] : [collection, [`${base}ByPk`, () => byKeyField(entity, key, types)]]
}

/** Undefined when the role can change nothing: such a type would have no field. */
export function makeMutation(visible: Visible, types: Types): GraphQLObjectType | undefined {
  const writes = visible.exposed.some(
    (entity) =>
      visible.can(entity.grants.delete) ||
      visible.insertable(entity).length > 0 ||
      visible.updatable(entity).length > 0,
  )
  const calls = visible.manifest.functions.some((fn) => fn.volatile && visible.seesFunction(fn))
  if (!writes && !calls) return undefined
  const description = 'Everything that can be changed. The fields of one request run in order, in one transaction.'
  return new LazyObjectType('Mutation', description, () =>
    sorted([
      ...visible.exposed.flatMap((entity) => writeMakers(visible, entity, types)),
      ...callMakers(visible, types, (fn) => fn.volatile),
    ]),
  )
}

const collectionField = (entity: EntityFacts, types: Types): Field =>
  field(
    nonNull(types.connection(entity)),
    { kind: 'collection', entity },
    `The rows of ${entity.name}, page by page.`,
    collectionArguments(entity, types),
  )

/**
 * Decision 5: every key whose columns all have a type that can be written as an argument. They need not be readable:
 * the read then fails as every read of such a relation does (1.2).
 */
function keyColumns(visible: Visible, entity: EntityFacts): readonly Shown[] | null {
  const columns = entity.key.flatMap((name) => entity.columns.find((column) => column.column === name) ?? [])
  const shown = columns.flatMap(({ field: name, type, typeSchema }) =>
    name !== null && type !== null && !type.list && visible.seesType(type, typeSchema) ? [{ name, type }] : [],
  )
  // Two columns that come to one name cannot both be asked for.
  return new Set(shown.map(({ name }) => name)).size === entity.key.length ? shown : null
}

interface Shown {
  readonly name: string
  readonly type: ValueType
}

function byKeyField(entity: EntityFacts, key: readonly Shown[], types: Types): Field {
  const args = Object.fromEntries(
    key.map(({ name, type }) => [name, { type: nonNull(types.input(type)), description: `The row's ${name}.` }]),
  )
  const meaning = { kind: 'by-key', entity, args: Object.keys(args) } as const
  return field(
    types.row(entity),
    meaning,
    `The row of ${entity.name} with this key; null when there is none that you may see.`,
    args,
  )
}

const callMakers = (visible: Visible, types: Types, wanted: (fn: FunctionFacts) => boolean): Makers =>
  visible.manifest.functions
    .filter((fn) => wanted(fn) && visible.seesFunction(fn))
    .map((fn) => [fn.field, () => callField(visible, fn, types)])

function callField(visible: Visible, fn: FunctionFacts, types: Types): Field {
  const { type, args } = resultOf(visible, fn, types)
  const own = Object.fromEntries(fn.args.map((argument) => [argument.field, callArgument(argument, types)]))
  return field(type, { kind: 'call', function: fn }, fn.description ?? `Calls ${fn.field}.`, { ...own, ...args })
}

function callArgument(argument: ArgumentFacts, types: Types): NonNullable<Field['args']>[string] {
  const type = types.input(argument.type)
  const base = { type: argument.required ? nonNull(type) : type, description: `The argument ${argument.field}.` }
  if (argument.defaultValue === null) return base
  return { ...base, defaultValue: valueFromASTUntyped(parseValue(argument.defaultValue)) }
}
