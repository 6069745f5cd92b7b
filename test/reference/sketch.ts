import { nameColumn, nameConstraint, nameFunction, nameRelation, isIdentified } from '../../compiler/catalog/catalog.ts'
import type { Annotated, AnnotatedRelation, AnnotatedSchema } from '../../compiler/comments/annotated.ts'
import { rolePrivileges } from '../../compiler/catalog/privileges.ts'
import { homesOf, knownColumn, type Collation, type KnownColumn, type Types } from './column-types.ts'
import {
  additions,
  type Additions,
  type ColumnSketch,
  type EnumSketch,
  type ForeignKeySketch,
  type TableSketch,
  type World,
} from './interpreter/world.ts'
import type { LookedUp, LookedUpColumn } from './look-up.ts'

/** An object that is not judged, and the reason. */
export interface NotJudged {
  readonly object: string
  readonly reason: string
}

/** A table without its rows, and how to read them. */
export interface Sketched {
  readonly table: TableSketch
  readonly object: string
  /** Whether Postgres guarantees that keys are unique. */
  readonly isUnique: boolean
  /** In the order of the sketch's columns. */
  readonly columns: readonly KnownColumn[]
}

export interface Sketch {
  readonly world: World
  readonly tables: readonly Sketched[]
  readonly notJudged: readonly NotJudged[]
}

/** A schema for the interpreter, for one role, and the unknown parts. */
export function sketchOf(
  annotated: Annotated,
  schema: AnnotatedSchema,
  role: string,
  found: LookedUp,
  skip: readonly AnnotatedRelation[],
): Sketch {
  const notJudged: NotJudged[] = []
  const put = (object: string, reason: string): void => void notJudged.push({ object, reason })
  const types: Types = {
    types: new Map(annotated.types.map((type) => [type.oid, type])),
    schema: schema.name,
    domains: schema.settings.domains,
    geo: schema.settings.geo,
  }
  const held = namesHeld(annotated, role)
  const relations = annotated.relations.filter((relation) => relation.schema === schema.name)
  const tables = relations.flatMap((relation) => {
    const columns = new Map(
      found.columns.filter((one) => one.relation === relation.name).map((one) => [one.column, one]),
    )
    if (!found.usable || ![...columns.values()].some(({ readable }) => readable)) {
      put(nameRelation(relation), `${role} may read no column of it`)
      return []
    }
    if (skip.includes(relation)) {
      put(nameRelation(relation), 'it is left out')
      return []
    }
    tellRelations(relation, put)
    return sketchTable(types, relation, role, { ...found, columns: [...columns.values()] }, held, put)
  })
  for (const fn of annotated.functions) {
    if (fn.schema === schema.name && fn.kind === 'f') put(nameFunction(fn), 'what functions do is not known')
  }
  const linked = tables.map((one) => ({ ...one, table: withKeys(one.table, relations) }))
  return { world: worldOf(annotated, schema, linked), tables: linked, notJudged }
}

/** Names of roles whose settings apply to the role. */
function namesHeld(annotated: Annotated, role: string): readonly string[] {
  const facts = rolePrivileges(annotated)[role]
  return [role, 'public', ...(facts === undefined || facts.superuser ? [] : facts.effective)]
}

/** Without unreadable objects and without rows. */
function worldOf(annotated: Annotated, { name, settings }: AnnotatedSchema, tables: readonly Sketched[]): World {
  const limits = annotated.schemas.flatMap((schema) => schema.settings.limits ?? [])
  const least = (key: 'fields' | 'rows'): number | null => {
    const given = limits.flatMap((one) => one[key] ?? [])
    return given.length === 0 ? null : Math.min(...given)
  }
  return {
    comments: 'bare',
    schema: name,
    inflects: settings.inflect_names,
    maxRows: settings.max_rows,
    additions: additionsOf(settings),
    ...(limits.length > 0 && { limits: { fields: least('fields'), rows: least('rows') } }),
    enums: enumsOf(annotated, name),
    tables: tables.map(({ table }) => table),
    functions: [],
  }
}

/** The words of an owner's texts depend on the server, so search is excluded. */
const known = additions.filter((name) => name !== 'search')

const additionsOf = (settings: Readonly<Record<(typeof additions)[number], boolean | null>>): Additions =>
  Object.fromEntries(known.flatMap((name) => (settings[name] === null ? [] : [[name, settings[name]]])))

const enumsOf = ({ types }: Annotated, schema: string): readonly EnumSketch[] =>
  types
    .filter((type) => type.kind === 'e' && type.schema === schema)
    .map(({ name, labels, settings }) => ({
      name,
      labels,
      ...(settings.name !== null && { typeName: settings.name }),
      mappings: Object.fromEntries(settings.mappings ?? []),
    }))

type Put = (object: string, reason: string) => void

/** The interpreter knows foreign keys within one schema. */
function tellRelations(relation: AnnotatedRelation, put: Put): void {
  const object = nameRelation(relation)
  if ((relation.settings.foreign_keys ?? []).length > 0) put(object, 'relations that a comment declares are not known')
  for (const { name, foreignSchema } of relation.foreignKeys) {
    if (foreignSchema !== relation.schema) put(nameConstraint(relation, name), 'it leads to another schema')
  }
}

const bytes: Collation = { kind: 'bytes' }

/** Null if its key cannot be in a node id. */
function sketchTable(
  types: Types,
  relation: AnnotatedRelation,
  role: string,
  { columns: looked, lockedEnums, lockedSchemas }: LookedUp,
  held: readonly string[],
  put: Put,
): readonly Sketched[] {
  const primaryKey = relation.primaryKey ?? relation.settings.primary_key_columns ?? []
  const lookedAt = new Map(looked.map((one): [string, LookedUpColumn] => [one.column, one]))
  const columns = relation.columns.flatMap((column) => {
    const { readable = false, collation = bytes } = lookedAt.get(column.name) ?? {}
    const known = knownColumn(types, column, collation)
    if (homesOf(types, column.type).some((name) => lockedSchemas.includes(name))) return []
    const isLocked = known?.type.enum != null && lockedEnums.includes(known.type.enum)
    if (readable && (known === null || isLocked))
      put(nameColumn(relation, column.name), `${column.typeText} is not known`)
    const isKnown = known !== null && !isLocked
    return readable && isKnown ? [{ sketch: columnSketch(column, known), known }] : []
  })
  const isUsable = ({ sketch }: (typeof columns)[number]): boolean => !unusableInKeys.has(sketch.type.base)
  const lacking = primaryKey.filter((name) => !columns.some((one) => one.sketch.name === name && isUsable(one)))
  if (primaryKey.length === 0) {
    put(nameRelation(relation), 'it has no key')
    return []
  }
  if (lacking.length > 0) {
    put(nameRelation(relation), `its key (${lacking.join(', ')}) is not readable, or of a type that is not known`)
    return []
  }
  const compared = relation.settings.defaultFilter.find(({ column, operator }) => {
    const found = columns.find(({ sketch }) => sketch.name === column)
    return operator !== 'is' && found?.sketch.type.collation !== undefined
  })
  if (compared !== undefined) {
    put(nameRelation(relation), `its default filter compares "${compared.column}" as a collation does`)
    return []
  }
  const softDelete = relation.settings.softDelete
  if (softDelete !== null && !columns.some(({ sketch }) => sketch.name === softDelete)) {
    put(nameRelation(relation), `what marks its rows as deleted ("${softDelete}") is not readable`)
    return []
  }
  const hidden = relation.settings.writeOnly.flatMap(({ role, column }) => (held.includes(role) ? [column] : []))
  const whole = looked.some((column) => column.whole)
  const select = whole ? ('all' as const) : columns.map(({ sketch }) => sketch.name)
  const table: TableSketch = {
    name: relation.name,
    additions: additionsOf(relation.settings),
    typeName: relation.settings.name,
    totalCount: relation.settings.totalCount,
    aggregate: relation.settings.aggregate,
    ...(!relation.settings.root && { unrooted: true as const }),
    maxRows: relation.settings.max_rows,
    defaultOrder: relation.settings.defaultOrder,
    defaultFilter: relation.settings.defaultFilter,
    ...(softDelete !== null && { softDelete }),
    links: relation.settings.links,
    unions: relation.settings.polymorphism?.unions ?? [],
    interfaces: relation.settings.polymorphism?.interfaces ?? [],
    collections: relation.settings.polymorphism?.collections ?? [],
    ...(hidden.length > 0 && { access: [{ role, readOnly: [], writeOnly: hidden, presets: [] }] }),
    columns: columns.map(({ sketch }) => sketch),
    primaryKey,
    uniques: relation.uniques.map((unique) => ({ columns: unique, where: null })),
    foreignKeys: [],
    policies: null,
    grants: { [role]: { select, insert: [], update: [], delete: false } },
    rows: [],
  }
  const isUnique = isIdentified(relation, primaryKey)
  return [{ table, object: nameRelation(relation), isUnique, columns: columns.map(({ known }) => known) }]
}

/** Their form in a node id depends on the server. */
const unusableInKeys: ReadonlySet<string> = new Set(['other', 'float8', 'composite', 'jsonb'])

const columnSketch = (column: AnnotatedRelation['columns'][number], { type }: KnownColumn): ColumnSketch => ({
  name: column.name,
  type,
  notNull: column.notNull,
  fallback: { kind: 'none' },
  field: column.settings.name,
})

/** Foreign keys within the schema. */
function withKeys(table: TableSketch, relations: readonly AnnotatedRelation[]): TableSketch {
  const relation = relations.find(({ name }) => name === table.name)
  const foreignKeys = (relation?.foreignKeys ?? []).filter((key) => key.foreignSchema === relation?.schema)
  return {
    ...table,
    foreignKeys: foreignKeys.map((key): ForeignKeySketch => ({
      name: key.name,
      columns: key.columns,
      target: key.foreignRelation,
      targetColumns: key.foreignColumns,
      ...(!key.guaranteed && { unproven: true as const }),
      onDelete: 'no action',
      foreignName: key.settings.foreign_name ?? key.settings.name,
      localName: key.settings.local_name,
    })),
  }
}

/** Without foreign keys between missing tables and columns. */
export const withoutDangling = (table: TableSketch, tables: readonly TableSketch[]): TableSketch => ({
  ...table,
  foreignKeys: table.foreignKeys.filter(
    ({ columns, target, targetColumns }) =>
      hasColumns([table], table.name, columns) && hasColumns(tables, target, targetColumns),
  ),
})

const hasColumns = (tables: readonly TableSketch[], name: string, columns: readonly string[]): boolean =>
  tables.some(
    (table) => table.name === name && columns.every((column) => table.columns.some((one) => one.name === column)),
  )
