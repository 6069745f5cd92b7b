import { isNonNullType, isObjectType, validateSchema, type GraphQLSchema } from 'graphql'
import { introspect, namesOf } from '../../support/api-schema.ts'
import { isFigure } from '../interpreter/aggregate.ts'
import type { Api, ApiTable, Collected, RowField } from '../interpreter/api-types.ts'
import { apiOf, apiTableOf } from '../interpreter/api.ts'
import { nestedFields } from '../interpreter/nested-api.ts'
import { changedFields, type ChangedField } from '../interpreter/related-api.ts'
import { recurringMember, recurringOf } from '../interpreter/times.ts'
import { hasAddition, type Role, type World } from '../interpreter/world.ts'
import { roles } from './worlds/roles.ts'
import type { Stage } from './stage.ts'

/** Types of a schema by name, with the names of their members. */
type Shape = ReadonlyMap<string, readonly string[]>

/** Why the schema of a role is invalid, or differs from the expected one (spec/graphql.md 1, 2), or null. */
export async function judgeShape(stage: Stage): Promise<string | null> {
  // Introspection selects more fields than any drawn limit.
  if (typeof stage.world.limits?.fields === 'number') return null
  // Nor can it be required to be on a list.
  if (stage.world.allowlist !== undefined) return null
  for (const role of roles) {
    const schema = await introspect(stage.service, { role, claims: {} })
    const [invalid] = validateSchema(schema)
    if (invalid !== undefined) return `${role} sees no valid schema: ${invalid.message}`
    for (const [type, expected] of shapeOf(stage, role)) {
      // A connection without a field need not exist: another table may have its root field's name.
      if (schema.getType(type) === undefined && isPart(type)) continue
      const actual = [...namesOf(schema, type)].sort()
      const wanted = [...expected].sort()
      if (actual.join() !== wanted.join())
        return `${role} sees ${type} with ${actual.join(', ')} instead of ${wanted.join(', ')}`
    }
    const nullable = apiOf(stage.world, role).tables.flatMap((table) => otherNullability(schema, table))[0]
    if (nullable !== undefined) return `${role} sees ${nullable}`
    const unknown = unexpected(stage, role, schema)
    if (unknown !== undefined) return `${role} sees the type ${unknown}`
  }
  return null
}

const isPart = (type: string): boolean =>
  /(Connection|Edge|Filter|ComparedColumn|OrderBy|DistinctField|Constraint|UpdateField|Input|Change|AggregateResult|GroupBy|Grouped|GroupKey|GroupOrder|GroupKeyOrder|GroupWidths|Having|CountDistinctResult|FlagResult|PercentileResult|PercentileOrder|PercentileColumnOrder|HavingPercentile|HavingPercentileColumn|ValuesResult|GroupDayOfWeek|GroupDayOfWeekOrder|GroupHourOfDay|GroupHourOfDayOrder)$/.test(
    type,
  )

function shapeOf(stage: Stage, role: Role): Shape {
  const api = apiOf(stage.world, role)
  return new Map([
    ['Query', [...api.query.keys()]],
    ['Mutation', [...api.mutation.keys()]],
    ...(stage.world.live === true ? [['Subscription', watchable(api)] as const] : []),
    ...[...api.abstract].flatMap(([name, types]) =>
      name === 'Node' || api.interfaces.has(name) ? [] : [[name, [...types]] as const],
    ),
    ...[...api.interfaces].map(([name, fields]) => [name, [...fields.keys()]] as const),
    ...api.collected.flatMap(collectedShape),
    ...api.tables.flatMap((table) => tableShape(stage.world, api, table)),
  ])
}

/** The types of an interface's collection, except inputs without a field. */
function collectedShape({ name, of, filters, orders }: Collected): readonly (readonly [string, readonly string[]])[] {
  const logic = ['and', 'or', 'not'].filter((word) => of.every((table) => !table.filters.has(word)))
  const counted = of.every(({ sketch }) => sketch.totalCount)
  return [
    [`${name}Connection`, ['edges', 'pageInfo', ...(counted ? ['totalCount'] : [])]],
    [`${name}Edge`, ['cursor', 'node']],
    [`${name}Filter`, filters.length === 0 ? [] : [...filters, ...logic]],
    [`${name}OrderBy`, orders],
  ]
}

/** Fields of a subscription, where all is live: `node` needs a relation (spec/graphql.md 16.1). */
const watchable = ({ query, tables }: Api): readonly string[] =>
  [...query.keys()].filter((name) => name !== 'node' || tables.length > 0)

/** The keys and figures of groups. */
function groupShape(api: Api, table: ApiTable): readonly (readonly [string, readonly string[]])[] {
  const keys = [...table.orders.keys(), ...table.groupRelations.keys()]
  const measured = [...(table.figures.get('sum')?.keys() ?? [])]
  const listed = [...(table.figures.get('countDistinct')?.keys() ?? [])]
  const counted: readonly (readonly [string, readonly string[]])[] = [
    ['CountDistinctResult', listed],
    ['PercentileResult', measured],
    ['PercentileColumnOrder', measured],
    ['HavingPercentileColumn', measured],
    ...['PercentileOrder', 'HavingPercentile'].map((part) => [part, measured.length > 0 ? ['at', 'of'] : []] as const),
    ['ValuesResult', listed],
    ['FlagResult', [...(table.figures.get('every')?.keys() ?? [])]],
  ]
  const figures = [...table.figures].flatMap(([name, columns]) => (columns.size > 0 ? [name] : []))
  const percentile = measured.length > 0 ? ['percentile'] : []
  const times = recurringShape(api, table)
  return [
    [`${table.type}GroupBy`, keys],
    [`${table.type}GroupKey`, keys],
    [`${table.type}GroupKeyOrder`, keys],
    [
      `${table.type}Grouped`,
      [
        ...['key', 'count', 'cursor', ...figures, ...percentile],
        ...times.map(({ member }) => member),
        ...(listed.length > 0 ? ['values'] : []),
      ],
    ],
    [`${table.type}GroupOrder`, ['key', 'count', ...figures, ...percentile, ...times.map(({ member }) => member)]],
    ...times.flatMap(({ part, fields }) => [
      [`${table.type}${part}`, fields] as const,
      [`${table.type}${part}Order`, fields] as const,
    ]),
    ...counted.filter(([, names]) => names.length > 0).map(([part, names]) => [`${table.type}${part}`, names] as const),
    [`${table.type}Having`, ['count', ...figures, ...percentile, 'and', 'or', 'not']],
  ]
}

/** Recurring units of time, with the fields that have them here or over relations. */
const recurringShape = (
  api: Api,
  table: ApiTable,
): readonly { readonly member: string; readonly part: string; readonly fields: readonly string[] }[] =>
  ['DAY_OF_WEEK', 'HOUR_OF_DAY'].flatMap((time) => {
    const reaches = (from: ApiTable, seen: readonly ApiTable[]): boolean =>
      !seen.includes(from) &&
      ([...from.orders.values()].some(({ type }) => recurringOf(type).includes(time)) ||
        [...from.groupRelations.values()].some(({ target }) => reaches(apiTableOf(api, target), [...seen, from])))
    const member = recurringMember(time) ?? ''
    const fields = [
      ...[...table.orders].filter(([, { type }]) => recurringOf(type).includes(time)),
      ...[...table.groupRelations].filter(([, { target }]) => reaches(apiTableOf(api, target), [])),
    ].map(([name]) => name)
    const part = `Group${member.charAt(0).toUpperCase()}${member.slice(1)}`
    return fields.length === 0 ? [] : [{ member, part, fields }]
  })

/** The changes of a relation's rows. */
const changeShape = ({ target, type, members }: ChangedField): readonly [string, readonly string[]] => [
  target.type + type,
  members.flatMap((member) => (member === 'insert' && target.conflicts.size > 0 ? [member, 'onConflict'] : [member])),
]

function tableShape(world: World, api: Api, table: ApiTable): readonly (readonly [string, readonly string[]])[] {
  const hasKeys = table.orders.size > 0 || table.groupRelations.size > 0
  const isGrouped = hasKeys && hasAddition(world, table.sketch, 'groups')
  const logic = ['nodeId', 'and', 'or', 'not'].filter((name) => !table.filters.has(name))
  const comparing = table.compared.size > 0 ? ['columns'] : []
  const nested = nestedFields(world, api, table).map(({ name }) => name)
  const changed = changedFields(world, api, table)
  const inputs = [
    [`${table.type}OrderBy`, [...table.orders.keys(), ...table.orderRelations.keys(), ...table.ranks.keys()]] as const,
    [`${table.type}DistinctField`, [...table.distinct.keys()]] as const,
    [`${table.type}ColumnFilter`, [...table.compared.keys()]] as const,
    [`${table.type}ComparedColumn`, [...table.compared.keys()]] as const,
    [`${table.type}InsertInput`, [...table.inserts.keys(), ...nested]] as const,
    [`${table.type}UpdateInput`, [...table.updates.keys()]] as const,
    [`${table.type}RelatedInput`, changed.map(({ name }) => name)] as const,
    ...changed.map(changeShape),
    [`${table.type}Constraint`, [...table.conflicts.keys()]] as const,
    [`${table.type}UpdateField`, [...table.takeovers.keys()]] as const,
  ].filter(([, names]) => names.length > 0)
  return [
    [table.type, [...table.fields.keys()]],
    [
      `${table.type}Connection`,
      [
        'edges',
        'pageInfo',
        ...(table.sketch.totalCount ? ['totalCount'] : []),
        ...(table.sketch.aggregate ? ['aggregate'] : []),
        ...(isGrouped ? ['groups'] : []),
      ],
    ],
    [`${table.type}Edge`, ['cursor', 'node', ...table.between.keys()]],
    [`${table.type}Filter`, [...table.filters.keys(), ...table.filterRelations.keys(), ...comparing, ...logic]],
    ...inputs,
    ...(isGrouped ? groupShape(api, table) : []),
    ...[...(isGrouped ? table.figures : table.aggregates)]
      .filter(([name]) => isFigure(name))
      .filter(([, columns]) => columns.size > 0)
      .map(
        ([name, columns]) =>
          [`${table.type}${name.charAt(0).toUpperCase()}${name.slice(1)}AggregateResult`, [...columns.keys()]] as const,
      ),
  ]
}

/** Columns and relations whose nullability is wrong. */
function otherNullability(schema: GraphQLSchema, table: ApiTable): readonly string[] {
  const type = schema.getType(table.type)
  if (!isObjectType(type)) return []
  const shown = type.getFields()
  return [...table.fields].flatMap(([name, field]) => {
    const found = shown[name]
    const wanted = isAlwaysNonNull(table, field)
    if (wanted === null || found === undefined || isNonNullType(found.type) === wanted) return []
    return [`${table.type}.${name} as ${String(found.type)}`]
  })
}

/** Null: unknown for such fields. */
function isAlwaysNonNull({ sketch: { heir, primaryKey, view } }: ApiTable, field: RowField): boolean | null {
  if (field.kind === 'relation') return field.notNull
  if (field.kind !== 'column' || view !== undefined) return null
  const { name, notNull } = field.column
  return primaryKey.includes(name) || (notNull && heir?.nullable.includes(name) !== true)
}

/** A row type that the role should not see. */
function unexpected(stage: Stage, role: Role, schema: GraphQLSchema): string | undefined {
  const node = schema.getType('Node')
  const known = new Set(apiOf(stage.world, role).tables.map((table) => table.type))
  const shown = node !== undefined && 'getInterfaces' in node ? schema.getPossibleTypes(node as never) : []
  return shown.map((type) => type.name).find((name) => !known.has(name))
}
