import { compareBytes } from '../../runtime/lib/text.ts'
import { groupBy, groupInSteps, mapInSteps, type Steps } from '../../runtime/lib/steps.ts'
import { readLists, type AnswerPart, type CatalogFacts, type Lists, type RowOf } from './catalog-rows.ts'
import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogGrant,
  CatalogOrder,
  CatalogRelation,
  CatalogSchema,
  CatalogStray,
  CatalogType,
  CatalogTypeSchema,
  CatalogUniqueKey,
  Oid,
} from './catalog.ts'

/** The answer of one run of the catalogue query: the single objects, all types, and the new objects. */
export interface CatalogAnswer extends CatalogFacts, Pick<Lists, 'roles' | 'members' | 'gone' | 'needy'> {
  readonly schemas: readonly CatalogSchema[]
  readonly memberships: Catalog['memberships']
  readonly types: readonly CatalogType[]
  readonly typeSchemas: readonly CatalogTypeSchema[]
  readonly relations: readonly ReadRelation[]
  readonly functions: readonly ReadFunction[]
  readonly strays: readonly CatalogStray[]
  readonly filled: readonly string[]
  readonly touched: readonly Oid[]
}

export interface ReadRelation {
  /** Null: the relation is read again with the next complete read. */
  readonly hash: string | null
  /** False for a relation that is only included because a foreign key refers to it. */
  readonly served: boolean
  /** Other tables inherit from it, which affects the nullability of columns; it may stay true after they are gone. */
  readonly inherited: boolean
  /** Types of the columns. */
  readonly mentions: readonly Oid[]
  /** Those that its columns own. */
  readonly sequences: readonly Oid[]
  readonly object: CatalogRelation
}

export interface ReadFunction {
  readonly hash: string
  /** Types of the result and of all arguments, output ones included. */
  readonly mentions: readonly Oid[]
  readonly object: CatalogFunction
}

/**
 * Assembles objects from the answer of the catalogue query.
 *
 * @throws TypeError with the place, if a value has an unexpected shape or refers to a missing object: a defect of the
 * query, or an object that was dropped while it ran.
 */
export function* decodeAnswer(answer: readonly AnswerPart[]): Steps<CatalogAnswer> {
  const lists = yield* readLists(answer)
  const index = yield* indexOf(lists)
  return {
    ...lists.facts,
    roles: lists.roles,
    memberships: lists.memberships,
    members: lists.members,
    gone: lists.gone,
    needy: lists.needy,
    touched: lists.touched.map(({ oid }) => oid),
    schemas: lists.schemas.map((row) => schemaOf(row, index)),
    types: lists.types.map((row) => typeOf(row, index)),
    typeSchemas: lists.typeSchemas.map(({ name, acl }) => ({ name, grants: grantsUnder(acl, index) })),
    relations: yield* mapInSteps(lists.relations, (row) => readRelation(row, relationOf(row, index), index)),
    functions: yield* mapInSteps(lists.functions, (row) => ({
      hash: row.hash,
      mentions: [row.result, ...row.types],
      object: functionOf(row, index),
    })),
    strays: lists.strays.map(strayOf),
    filled: lists.filled.map(({ relation }) => relation),
  }
}

interface Index {
  readonly grants: ReadonlyMap<string, readonly CatalogGrant[]>
  readonly typeTexts: ReadonlyMap<string, string>
  /** By relation: its columns by number, in ascending order. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<number, RowOf<'columns'>>>
  readonly sequences: ReadonlyMap<string, readonly RowOf<'sequences'>[]>
  readonly uniques: ReadonlyMap<string, readonly RowOf<'uniques'>[]>
  readonly foreignKeys: ReadonlyMap<string, readonly RowOf<'foreignKeys'>[]>
}

function* indexOf(lists: Lists): Steps<Index> {
  return {
    grants: yield* mapGroups(yield* groupInSteps(lists.grants, (row) => row.acl), grantsOf),
    typeTexts: new Map(lists.typeTexts.map((row) => [typeKey(row.type, row.modifier), row.text])),
    columns: yield* mapGroups(yield* groupInSteps(lists.columns, relationIn), byNumber),
    sequences: yield* groupInSteps(lists.sequences, relationIn),
    uniques: yield* groupInSteps(lists.uniques, relationIn),
    foreignKeys: yield* groupInSteps(lists.foreignKeys, relationIn),
  }
}

const relationIn = ({ relation }: { readonly relation: string }): string => relation

function* mapGroups<T, R>(
  groups: ReadonlyMap<string, readonly T[]>,
  make: (rows: readonly T[]) => R,
): Steps<ReadonlyMap<string, R>> {
  return new Map(yield* mapInSteps([...groups], ([key, group]) => [key, make(group)] as const))
}

const grantsOf = (rows: readonly RowOf<'grants'>[]): readonly CatalogGrant[] =>
  [...groupBy(rows, ({ grantee }) => grantee)].map(([grantee, own]) => ({
    grantee,
    privileges: own.map(({ privilege }) => privilege),
  }))

const byNumber = (rows: readonly RowOf<'columns'>[]): ReadonlyMap<number, RowOf<'columns'>> =>
  new Map([...rows].sort((a, b) => a.number - b.number).map((row) => [row.number, row]))

const typeKey = (type: string, modifier: number): string => `${type}:${modifier}`

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`${what} is missing`)
  return value
}

/** An empty ACL (everything revoked, also from the owner) has no rows. */
const grantsUnder = (acl: string, index: Index): readonly CatalogGrant[] => index.grants.get(acl) ?? []

const textOfType = (type: string, modifier: number, index: Index): string =>
  found(index.typeTexts.get(typeKey(type, modifier)), `text of type ${type} with modifier ${modifier}`)

function columnNames(relation: string, numbers: readonly number[], index: Index): readonly string[] {
  const columns = index.columns.get(relation)
  return numbers.map((number) => found(columns?.get(number), `column ${number} of relation ${relation}`).name)
}

const schemaOf = (row: RowOf<'schemas'>, index: Index): CatalogSchema => ({
  oid: row.oid,
  name: row.name,
  comment: row.comment,
  grants: grantsUnder(row.acl, index),
})

const readRelation = (
  { oid, hash, served, inherited }: RowOf<'relations'>,
  object: CatalogRelation,
  { sequences }: Index,
): ReadRelation => ({
  hash,
  served,
  inherited,
  mentions: [...new Set(object.columns.map(({ type }) => type))],
  sequences: (sequences.get(oid) ?? []).map(({ sequence }) => sequence),
  object,
})

function relationOf(row: RowOf<'relations'>, index: Index): CatalogRelation {
  const keys = index.uniques.get(row.oid) ?? []
  const uniques = keys.filter((unique) => unique.parts === null && unique.predicate === null)
  const primary = uniques.find((unique) => unique.primary)
  return {
    oid: row.oid,
    schema: row.schema,
    name: row.name,
    kind: row.kind,
    owner: row.owner,
    comment: row.comment,
    rowSecurity: row.rowSecurity,
    grants: grantsUnder(row.acl, index),
    rowType: row.rowType,
    columns: [...(index.columns.get(row.oid)?.values() ?? [])].map((column) => decodeColumn(column, index)),
    primaryKey: primary === undefined ? null : columnNames(row.oid, ascending(primary.numbers), index),
    uniques: columnSets(uniques, index),
    identifying: columnSets(
      uniques.filter(({ identifying }) => identifying),
      index,
    ),
    uniqueKeys: keys.filter(({ arbiter }) => arbiter).map((unique) => uniqueKeyOf(unique, index)),
    foreignKeys: (index.foreignKeys.get(row.oid) ?? []).map((key) => foreignKeyOf(key, index)),
  }
}

const uniqueKeyOf = (
  { relation, name, numbers, parts, predicate }: RowOf<'uniques'>,
  index: Index,
): CatalogUniqueKey => ({
  name,
  parts: numbers.map((number, place) =>
    number === 0
      ? { expression: found(parts?.[place], `expression of index ${name}`) }
      : { column: columnNames(relation, [number], index)[0] ?? '' },
  ),
  predicate,
})

const columnSets = (uniques: readonly RowOf<'uniques'>[], index: Index): readonly (readonly string[])[] =>
  distinctSets(uniques.map(({ relation, numbers }) => columnNames(relation, numbers, index)))

const ascending = (numbers: readonly number[]): readonly number[] => [...numbers].sort((a, b) => a - b)

/** Distinct lists of names, in byte order of their JSON text. */
const distinctSets = (sets: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  [...new Map(sets.map((names) => [JSON.stringify(names), names]))]
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([, names]) => names)

const decodeColumn = (row: RowOf<'columns'>, index: Index): CatalogColumn => ({
  name: row.name,
  number: row.number,
  type: row.type,
  modifier: row.modifier,
  typeText: textOfType(row.type, row.modifier, index),
  ...(row.collation !== null && { collation: row.collation }),
  notNull: row.notNull,
  generated: row.generated,
  identity: row.identity,
  serial: row.serial,
  hasDefault: row.hasDefault,
  comment: row.comment,
  grants: row.acl === null ? [] : grantsUnder(row.acl, index),
})

const foreignKeyOf = (row: RowOf<'foreignKeys'>, index: Index): CatalogForeignKey => ({
  oid: row.oid,
  name: row.name,
  columns: columnNames(row.relation, row.numbers, index),
  foreignSchema: row.foreignSchema,
  foreignRelation: row.foreignRelation,
  foreignColumns: columnNames(row.foreignOid, row.foreignNumbers, index),
  guaranteed: row.guaranteed,
  comment: row.comment,
})

const typeOf = (row: RowOf<'types'>, index: Index): CatalogType => ({
  oid: row.oid,
  schema: row.schema,
  name: row.name,
  kind: row.kind,
  text: textOfType(row.oid, -1, index),
  element: row.element,
  delimiter: row.delimiter,
  base: row.base,
  ...modifierOf(row.modifier),
  ...(row.hasDefault && { hasDefault: true as const }),
  relation: compositeOf(row),
  attributes: (row.attributes ?? []).map((name, place) => ({
    name,
    type: found(row.attributeTypes?.[place], `type of attribute ${name}`),
    ...modifierOf(row.attributeModifiers?.[place]),
  })),
  labels: row.labels,
  ...orderOf(row),
  ...patternsOf(row),
  comment: row.comment,
  grants: grantsUnder(row.acl, index),
})

/** Arrays are ordered like their elements, and the API has no orders by arrays. */
function orderOf({ kind, element, orderSchemas, orderNames }: RowOf<'types'>): Pick<CatalogType, 'order'> {
  if (kind !== 'b' || element !== null) return {}
  if (orderSchemas === null || orderNames === null) return { order: null }
  const order = operatorsOf(orderSchemas, orderNames)
  return order.every(({ schema, name }, place) => schema === 'pg_catalog' && name === plainOrder[place])
    ? {}
    : { order }
}

const patternsOf = ({ patternSchemas, patternNames }: RowOf<'types'>): Pick<CatalogType, 'patterns'> =>
  patternSchemas === null || patternNames === null ? {} : { patterns: operatorsOf(patternSchemas, patternNames) }

const operatorsOf = (schemas: readonly string[], names: readonly string[]): CatalogOrder =>
  names.map((name, place) => ({ schema: found(schemas[place], `schema of operator ${name}`), name }))

const plainOrder = ['<', '<=', '=', '>=', '>']

const modifierOf = (modifier = -1): { readonly modifier?: number } => (modifier < 0 ? {} : { modifier })

function compositeOf(row: RowOf<'types'>): CatalogType['relation'] {
  if (row.relationOid === null) return null
  const missing = `relation of type ${row.oid}`
  return {
    oid: row.relationOid,
    schema: found(row.relationSchema ?? undefined, missing),
    name: found(row.relationName ?? undefined, missing),
    standAlone: found(row.standAlone ?? undefined, missing),
  }
}

function functionOf(row: RowOf<'functions'>, index: Index): CatalogFunction {
  const modes = row.modes ?? row.types.map(() => 'i' as const)
  return {
    oid: row.oid,
    schema: row.schema,
    name: row.name,
    kind: row.kind,
    volatility: row.volatility,
    returnsSet: row.returnsSet,
    rows: row.rows,
    result: row.result,
    variadic: row.variadic,
    args: row.types.flatMap((type, place) =>
      INPUT_MODES.has(modes[place] ?? '')
        ? [{ name: row.names?.[place] ?? '', type, typeText: textOfType(type, -1, index) }]
        : [],
    ),
    hasOutColumns: modes.some((mode) => OUTPUT_MODES.has(mode)),
    defaultCount: row.defaultCount,
    defaults: row.defaults,
    comment: row.comment,
    grants: grantsUnder(row.acl, index),
  }
}

/** pg_proc.proargmodes: i(n) o(ut) b(oth) v(ariadic) t(able). */
const INPUT_MODES: ReadonlySet<string> = new Set(['i', 'b', 'v'])
const OUTPUT_MODES: ReadonlySet<string> = new Set(['o', 'b', 't'])

/** pg_identify_object describes an object in more detail than COMMENT accepts. */
const strayOf = ({ kind, name, comment }: RowOf<'strays'>): CatalogStray => ({
  object: `${kind.endsWith(' constraint') ? 'constraint' : kind === 'composite type column' ? 'column' : kind} ${name}`,
  comment,
})
