import { isEnumType, isInputObjectType, isInterfaceType, isObjectType, type GraphQLNamedType } from 'graphql'
import { objectId } from '../../runtime/contract/facts.ts'
import { meaningOf, type FieldMeaning } from '../../runtime/engine/meaning.ts'
import type { RoleView } from '../../runtime/engine/schema/schema.ts'
import { nameObject } from '../../compiler/catalog/catalog.ts'
import type { ApiTable, RootField, RowField } from './interpreter/api-types.ts'
import { apiOf } from './interpreter/api.ts'
import { schemaOf, type ColumnType, type TableSketch, type World } from './interpreter/world.ts'
import { enumName } from './questions/scene.ts'
import type { NotJudged } from './sketch.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Removes from a world the parts that the role's schema shows differently: names of unknown objects (a function, a
 * relation of another schema), and missing objects. Each removal is reported.
 */
export function fitted(world: World, view: RoleView): Snapshot {
  const { role } = view
  const typed = world.tables.filter((table) =>
    apiOf(world, role).tables.some(({ sketch, type }) => sketch === table && isTypeOf(world, view, type, table.name)),
  )
  const lost = world.tables.filter((table) => !typed.includes(table))
  const [rest, unasked] = withoutUnasked({ ...world, tables: typed }, view)
  const api = apiOf(rest, role)
  const hidden = [
    ...api.tables.flatMap((table) => otherFields(rest, view, table).map((name) => `${table.type}.${name}`)),
    ...[...api.interfaces].flatMap(([name, fields]) => {
      const type = view.schema.getType(name)
      const offered = isInterfaceType(type) ? type.getFields() : {}
      return [...fields.keys()].flatMap((field) => (Object.hasOwn(offered, field) ? [] : [`${name}.${field}`]))
    }),
    ...api.collected.flatMap(({ name, filters, orders }) => [
      ...lackedBy(view, `${name}Filter`, filters),
      ...lackedBy(view, `${name}OrderBy`, orders),
    ]),
    ...[...api.query].flatMap(([name, field]) => (isRoot(rest, view, name, field) ? [] : [`Query.${name}`])),
  ]
  const told = (name: string, reason: string): NotJudged => ({
    object: nameObject('relation', schemaOf(world), name),
    reason,
  })
  return {
    world: { ...rest, hidden: [...new Set(hidden)] },
    notJudged: [
      ...lost.map(({ name }) => told(name, 'it has no type of its own in the API')),
      ...unasked.map(({ name }) => told(name, 'it cannot be asked for by its key')),
      ...hidden.map((name) => ({ object: name, reason: 'the API has no such field, or another one of that name' })),
    ],
  }
}

/** Members of an input type that the role is not offered, with its name. */
function lackedBy({ schema }: RoleView, name: string, members: readonly string[]): readonly string[] {
  const type = schema.getType(name)
  const offered = isInputObjectType(type) ? type.getFields() : {}
  return members.flatMap((member) => (Object.hasOwn(offered, member) ? [] : [`${name}.${member}`]))
}

/** Keys must be written in documents, and a sampled table is requested by its key. */
function withoutUnasked(world: World, view: RoleView): readonly [World, readonly TableSketch[]] {
  const unasked = apiOf(world, view.role).tables.filter(
    ({ sketch, filters, key }) =>
      key.some(({ type }) => !isShown(world, view, type)) ||
      (sketch.sampled === true &&
        (filters.has('and') || ![...filters.values()].some(({ name }) => name === sketch.primaryKey[0]))),
  )
  const names = unasked.map(({ sketch }) => sketch.name)
  const rest = { ...world, tables: world.tables.filter(({ name }) => !names.includes(name)) }
  return [rest, unasked.map(({ sketch }) => sketch)]
}

/** An enum whose name is taken has no type. */
function isShown(world: World, { schema }: RoleView, type: ColumnType): boolean {
  const kind = world.enums.find(({ name }) => type.base === 'enum' && name === type.enum)
  return kind === undefined || isEnumType(schema.getType(enumName(world, kind)))
}

const isTypeOf = (world: World, { visible }: RoleView, type: string, relation: string): boolean =>
  visible.exposed.some((entity) => entity.name === type && entity.id === objectId(schemaOf(world), relation))

function otherFields(world: World, view: RoleView, table: ApiTable): readonly string[] {
  const { schema } = view
  const typeNamed = (suffix: string): GraphQLNamedType | undefined => schema.getType(table.type + suffix)
  const lacks = (suffix: string, names: Iterable<string>): readonly string[] => {
    const type = typeNamed(suffix)
    const fields = isInputObjectType(type) ? type.getFields() : {}
    return [...names].filter((name) => !Object.hasOwn(fields, name))
  }
  const row = typeNamed('')
  const rowFields = isObjectType(row) ? row.getFields() : {}
  const isSame = (name: string, field: RowField): boolean => {
    const shown = Object.hasOwn(rowFields, name) ? rowFields[name] : undefined
    return shown !== undefined && means(world, view, meaningOf(shown), field)
  }
  return [
    ...[...table.fields].flatMap(([name, field]) => (isSame(name, field) ? [] : [name])),
    ...lacks('Filter', [...table.filters.keys(), ...table.filterRelations.keys()]),
    ...lacks('ColumnFilter', table.compared.keys()),
    ...lacks('OrderBy', [...table.orders.keys(), ...table.orderRelations.keys()]),
  ]
}

function means(world: World, view: RoleView, meaning: FieldMeaning, field: RowField): boolean {
  switch (field.kind) {
    case 'nodeId':
      return meaning.kind === 'node-id'
    case 'column':
      return (
        meaning.kind === 'column' && meaning.column === field.column.name && isShown(world, view, field.column.type)
      )
    case 'relation':
      return (
        meaning.kind === 'relation' &&
        meaning.relation.target === objectId(schemaOf(world), field.target) &&
        (meaning.relation.shape === 'many') === field.many &&
        pairs(meaning.relation) === pairs(field)
      )
    case 'union':
      return (
        meaning.kind === 'union' &&
        meaning.of.length === field.of.length &&
        field.of.every((one, place) => {
          const related = meaning.of[place]
          return related !== undefined && means(world, view, { kind: 'relation', ...related }, one)
        })
      )
    case 'computed':
    case 'headline':
      return false
  }
}

const pairs = ({
  local,
  foreign,
}: {
  readonly local: readonly string[]
  readonly foreign: readonly string[]
}): string => JSON.stringify(local.map((column, index) => [column, foreign[index]]).sort())

function isRoot(world: World, { schema }: RoleView, name: string, field: RootField): boolean {
  const fields = schema.getQueryType()?.getFields() ?? {}
  const shown = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (shown === undefined) return false
  const meaning = meaningOf(shown)
  if (field.kind === 'node') return meaning.kind === 'node'
  if (field.kind === 'collections') {
    const named = field.collected.of.map(({ sketch }) => objectId(schemaOf(world), sketch.name))
    return meaning.kind === 'collections' && meaning.of.map(({ id }) => id).join() === named.join()
  }
  const isEntity = (kind: 'collection' | 'by-key'): boolean =>
    meaning.kind === kind &&
    'table' in field &&
    meaning.entity.id === objectId(schemaOf(world), field.table.sketch.name)
  return field.kind === 'collection'
    ? isEntity('collection')
    : (field.kind === 'byKey' || field.kind === 'lookup') && isEntity('by-key')
}
