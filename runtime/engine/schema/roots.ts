import { GraphQLObjectType, parseValue, valueFromASTUntyped } from 'graphql'
import type { ArgumentFacts, EntityFacts, FunctionFacts } from '../../contract/manifest.ts'
import type { Visible } from '../view.ts'
import { collectionArguments } from './collections.ts'
import { resultOf } from './rows.ts'
import { scalars } from './scalars.ts'
import { field, nonNull, shown, type Field, type Fields, type Types } from './types.ts'
import { writeFields } from './writes.ts'

/** The root types (spec/graphql.md 1.5). Fields are sorted by name in byte order; names are ASCII, so code units do. */

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)))

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

export function makeQuery(visible: Visible, types: Types): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Query',
    description: 'Everything that can be read.',
    fields: () => {
      const fields: Fields = {
        node: field(types.node, { kind: 'node' }, 'Any row by its node id; null when there is none that you may see.', {
          nodeId: { type: nonNull(scalars.ID), description: 'The node id of the row.' },
        }),
      }
      for (const entity of visible.exposed.filter((candidate) => candidate.root)) {
        put(fields, `${lowerFirst(entity.name)}Collection`, collectionField(entity, types))
        const byKey = byKeyField(visible, entity, types)
        if (byKey !== undefined) put(fields, `${lowerFirst(entity.name)}ByPk`, byKey)
      }
      addCalls(fields, visible, types, (fn) => !fn.volatile)
      return sorted(fields)
    },
  })
}

/** Undefined when the role can change nothing: such a type would have no field. */
export function makeMutation(visible: Visible, types: Types): GraphQLObjectType | undefined {
  const writes = visible.exposed.some(
    (entity) =>
      visible.can(entity.grants.delete) || visible.insertable(entity).length > 0 || visible.updatable(entity).length > 0,
  )
  const calls = visible.manifest.functions.some((fn) => fn.volatile && visible.seesFunction(fn))
  if (!writes && !calls) return undefined
  return new GraphQLObjectType({
    name: 'Mutation',
    description: 'Everything that can be changed. The fields of one request run in order, in one transaction.',
    fields: () => {
      const fields: Fields = {}
      for (const entity of visible.exposed) {
        for (const [name, config] of Object.entries(writeFields(visible, entity, types))) put(fields, name, config)
      }
      addCalls(fields, visible, types, (fn) => fn.volatile)
      return sorted(fields)
    },
  })
}

/** The first to take a name keeps it. */
function put(fields: Fields, name: string, config: Field): void {
  if (!Object.hasOwn(fields, name)) fields[name] = config
}

const collectionField = (entity: EntityFacts, types: Types): Field =>
  field(nonNull(types.connection(entity)), { kind: 'collection', entity }, `The rows of ${entity.name}, page by page.`, collectionArguments(entity, types))

/** Decision 5: every key whose columns all have a type that can be written as an argument. */
function byKeyField(visible: Visible, entity: EntityFacts, types: Types): Field | undefined {
  const columns = entity.key.map((name) => entity.columns.find((column) => column.column === name))
  const args: NonNullable<Field['args']> = {}
  for (const column of columns) {
    if (column === undefined || !visible.seesColumn(entity, column)) return undefined
    const { name, type } = shown(column)
    if (type.list) return undefined
    args[name] = { type: nonNull(types.input(type)), description: `The row's ${name}.` }
  }
  const meaning = { kind: 'by-key', entity, args: Object.keys(args) } as const
  return field(types.row(entity), meaning, `The row of ${entity.name} with this key; null when there is none that you may see.`, args)
}

function addCalls(fields: Fields, visible: Visible, types: Types, wanted: (fn: FunctionFacts) => boolean): void {
  for (const fn of visible.manifest.functions) {
    if (!wanted(fn) || !visible.seesFunction(fn)) continue
    const { type, args } = resultOf(visible, fn, types)
    const own = Object.fromEntries(fn.args.map((argument) => [argument.field, callArgument(argument, types)]))
    put(fields, fn.field, field(type, { kind: 'call', function: fn }, fn.description ?? `Calls ${fn.field}.`, { ...own, ...args }))
  }
}

function callArgument(argument: ArgumentFacts, types: Types): NonNullable<Field['args']>[string] {
  const type = types.input(argument.type)
  const base = { type: argument.required ? nonNull(type) : type, description: `The argument ${argument.field}.` }
  if (argument.defaultValue === null) return base
  return { ...base, defaultValue: valueFromASTUntyped(parseValue(argument.defaultValue)) }
}
