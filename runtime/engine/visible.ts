import type {
  EntityFacts,
  Grantee,
  Grantees,
  Manifest,
  AttributeFacts,
  CompositeFacts,
  EnumFacts,
  ObjectId,
  TypeFacts,
  ValueType,
  ColumnFacts,
  PresetFacts,
} from '../contract/manifest.ts'
import { decidingFacts } from '../contract/facts.ts'
import type { Memo } from '../lib/memo/memo.ts'
import { atOnce } from '../lib/steps.ts'
import type { Names } from '../contract/type-names.ts'
import type { ConditionFacts, DefaultOrderFacts, Marker } from '../contract/stated.ts'
import type { SchemaAddition } from './additions.ts'

/** The privileges of a role in a manifest (spec/graphql.md 1.4). */
export interface Rights {
  /** The role, then those whose privileges it has, then `public`. */
  readonly names: readonly Grantee[]
  readonly can: (grantees: Grantees) => boolean
  /** Names of the schemas with USAGE. */
  readonly usable: ReadonlySet<string>
  /** Names of the schemas without USAGE, including those of types. */
  readonly closed: ReadonlySet<string>
  /** The relations that it may read, or some columns of them. */
  readonly readable: readonly boolean[]
  /** The relations without SELECT, but with INSERT. */
  readonly insertOnly: readonly EntityFacts[]
}

/** The same set for the same names, so that results that depend on it are kept. */
const usableSchemas = (...names: readonly string[]): ReadonlySet<string> => new Set(names)
const effectiveRoles = (...names: readonly string[]): ReadonlySet<string> => new Set(names)

const isGranted = (grantees: Grantees, superuser: boolean, effective: ReadonlySet<string>): boolean =>
  superuser || grantees.some((grantee) => effective.has(grantee))

function isReadable(
  entity: EntityFacts,
  usable: ReadonlySet<string>,
  superuser: boolean,
  effective: ReadonlySet<string>,
  additions: readonly SchemaAddition[],
): boolean {
  const { schema, grants, columns } = entity
  const selects = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  const marker = markerOf(additions, entity)
  const readable = marker == null ? columns : columns.filter(({ column }) => column === marker.column)
  return usable.has(schema) && (selects(grants.select) || readable.some((column) => selects(column.grants.select)))
}

const markerOf = (additions: readonly SchemaAddition[], entity: EntityFacts): Marker | null | undefined =>
  additions.map((one) => one.marker?.(entity)).find((marker) => marker !== undefined)

function isInsertable(...[entity, usable, superuser, effective]: Parameters<typeof isReadable>): boolean {
  const { schema, grants, columns } = entity
  const inserts = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  return usable.has(schema) && (inserts(grants.insert) || columns.some((column) => inserts(column.grants.insert)))
}

/** @param memo of the role */
export function rightsOf(manifest: Manifest, role: string, additions: readonly SchemaAddition[], memo: Memo): Rights {
  const { superuser, effective: roles } = decidingFacts(manifest, role)
  const effective = memo.one(effectiveRoles, ...roles)
  const can = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  const usable = memo.one(usableSchemas, ...manifest.schemas.filter(({ usage }) => can(usage)).map(({ name }) => name))
  const closed = new Set(
    [...manifest.schemas, ...(manifest.typeSchemas ?? [])].filter(({ usage }) => !can(usage)).map(({ name }) => name),
  )
  const readable = atOnce(memo.map(isReadable, manifest.entities, usable, superuser, effective, additions))
  const insertable = atOnce(memo.map(isInsertable, manifest.entities, usable, superuser, effective, additions))
  const insertOnly = manifest.entities.filter((_, place) => insertable[place] === true && readable[place] !== true)
  const others = roles.filter((name) => name !== role && name !== 'public')
  return { names: [role, ...others, 'public'], can, usable, closed, readable, insertOnly }
}

/** The types of values that a role may see (spec/graphql.md 1.4). */
export interface VisibleTypes {
  readonly enum: (id: ObjectId) => EnumFacts | undefined
  /** A composite type whose attributes the role may see. */
  readonly composite: (id: ObjectId) => CompositeFacts | undefined
  /** Its attributes with usable types; those with a field in the filter type. */
  readonly attributes: (item: CompositeFacts) => readonly AttributeFacts[]
  readonly comparableAttributes: (item: CompositeFacts) => readonly AttributeFacts[]
  /** Whether the type of a value may be used and shown. */
  readonly seesType: (facts: TypeFacts) => boolean
  /** Whether the enum and its filter may be named by this role. */
  readonly seesEnum: (item: EnumFacts) => boolean
  readonly compares: (type: ValueType | null) => boolean
}

/** Whether statements of the role may name the type: USAGE on its schema, and on that of its base type. */
const namesType = ({ closed }: Rights, { typeSchema, underSchema }: Omit<TypeFacts, 'type'>): boolean =>
  !(typeSchema !== null && closed.has(typeSchema)) && !(underSchema !== undefined && closed.has(underSchema))

export function typesVisibleTo(manifest: Manifest, rights: Rights, names: Names): VisibleTypes {
  const { can, usable } = rights
  const enums = new Map(manifest.enums.map((item) => [item.id, item]))
  const composites = new Map((manifest.composites ?? []).map((item) => [item.id, item]))

  const composite = (id: ObjectId): CompositeFacts | undefined => {
    const item = composites.get(id)
    return item !== undefined && usable.has(item.schema) && names.ownsComposite(item) && attributes(item).length > 0
      ? item
      : undefined
  }
  const attributes = (item: CompositeFacts): readonly AttributeFacts[] => item.fields.filter(seesType)
  const comparableAttributes = (item: CompositeFacts): readonly AttributeFacts[] =>
    attributes(item).filter(({ filter, type }) => filter && compares(type))
  const seesType = (facts: TypeFacts): boolean => {
    const { type } = facts
    if (!namesType(rights, facts)) return false
    if (type.kind === 'composite') return composite(type.id) !== undefined
    if (type.kind === 'scalar' || !type.list) return true
    const item = enums.get(type.id)
    return item === undefined || can(item.usage)
  }
  /** Enums are compared as such only with USAGE; lists of Opaque have no filter. */
  const compares = (type: ValueType | null): boolean => {
    if (type?.kind === 'composite') {
      const item = composite(type.id)
      return item !== undefined && comparableAttributes(item).length > 0
    }
    const item = type?.kind === 'enum' ? enums.get(type.id) : undefined
    if (item === undefined) return true
    return names.ownsEnum(item) ? can(item.usage) : type?.list === false
  }
  return {
    enum: (id) => enums.get(id),
    composite,
    attributes,
    comparableAttributes,
    seesType,
    seesEnum: (item) => names.ownsEnum(item) && usable.has(item.schema) && can(item.usage),
    compares,
  }
}

/** The columns of relations that a role may see and write (spec/graphql.md 1.4). */
export interface VisibleColumns {
  readonly seesColumn: (entity: EntityFacts, column: ColumnFacts) => boolean
  /** Whether statements of the role may read it, shown or not. */
  readonly readsColumn: (entity: EntityFacts, column: ColumnFacts) => boolean
  /** Whether rows are found by the column, by its SQL name: it is shown, and its values are comparable. */
  readonly findsBy: (entity: EntityFacts, column: string) => boolean
  /** Columns with a field in the filter type, in the order type, in the inputs. */
  readonly filterable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly orderable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly insertable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly updatable: (entity: EntityFacts) => readonly ColumnFacts[]
  /** The column that every read reads and every delete sets, as `SchemaAddition` has it. */
  readonly marker: (entity: EntityFacts) => Marker | null | undefined
  /** Whether rows can be deleted: with a marker, the marker must be writable. */
  readonly deletes: (entity: EntityFacts) => boolean
  /** Columns that an existing row can take from the new one: these are read (PostgreSQL manual, INSERT). */
  readonly takeovers: (entity: EntityFacts) => readonly ColumnFacts[]
  /** Columns that the statement sets to an expression of the builder, by its place; the role may write them. */
  readonly presets: (entity: EntityFacts, command: 'insert' | 'update') => readonly PresetPlace[]
}

export interface PresetPlace {
  /** SQL name. */
  readonly column: string
  readonly at: number
}

/** Columns by field; of two with one field the later is used (spec/graphql.md 2.4). */
export const byField = (columns: readonly ColumnFacts[]): ReadonlyMap<string, ColumnFacts> =>
  new Map(columns.map((column) => [column.field ?? '', column]))

export const hasType = (column: ColumnFacts): column is ColumnFacts & TypeFacts => column.type !== null

const columnOf = (entity: EntityFacts, name: string): ColumnFacts | undefined =>
  entity.columns.find((column) => column.column === name)

const selects = ({ can }: Rights, entity: EntityFacts, column: ColumnFacts): boolean =>
  can(entity.grants.select) || can(column.grants.select)

/** Whether the role may read all of the columns. */
export const selectsAll = ({ can }: Rights, entity: EntityFacts, columns: readonly string[]): boolean =>
  can(entity.grants.select) ||
  columns.every((name) => {
    const column = columnOf(entity, name)
    return column !== undefined && can(column.grants.select)
  })

/** Whether the role may compare all of the columns: a type's operators are in its schema. */
export const comparesAll = (rights: Rights, entity: EntityFacts, columns: readonly string[]): boolean =>
  rights.closed.size === 0 ||
  columns.every((name) => {
    const column = columnOf(entity, name)
    return column === undefined || namesType(rights, column)
  })

const writes = ({ can }: Rights, { grants }: EntityFacts, column: ColumnFacts, kind: 'insert' | 'update'): boolean =>
  can(grants[kind]) || can(column.grants[kind])

/** Citus adds defaults to inserts, so the role needs privileges on their columns as well. */
const insertsDefaults = ({ can }: Rights, { grants, sentDefaults = [] }: EntityFacts): boolean =>
  can(grants.insert) || sentDefaults.every(can)

function deletes(rights: Rights, entity: EntityFacts, marker: Marker | null | undefined): boolean {
  const { grants } = entity
  if (!rights.can(grants.delete) || marker === undefined) return rights.can(grants.delete)
  const mark = marker === null ? undefined : columnOf(entity, marker.column)
  return mark !== undefined && writes(rights, entity, mark, 'update')
}

export function columnsVisibleTo(
  rights: Rights,
  additions: readonly SchemaAddition[],
  { seesType, compares }: VisibleTypes,
): VisibleColumns {
  const accesses = new Map<EntityFacts, Access>()
  const access = (entity: EntityFacts): Access => {
    const found = accesses.get(entity) ?? accessOf(rights.names, entity)
    accesses.set(entity, found)
    return found
  }
  const hasField = (entity: EntityFacts, column: ColumnFacts): boolean =>
    column.field !== null &&
    !access(entity).writeOnly.has(column.column) &&
    selects(rights, entity, column) &&
    hasType(column) &&
    seesType(column)
  const shown = new Map<EntityFacts, ReadonlySet<ColumnFacts>>()
  // A column that lost its field to a later one is never shown, even if the later one is unavailable (spec/graphql.md
  // 2.4).
  const shownColumns = (entity: EntityFacts): ReadonlySet<ColumnFacts> => {
    const known = shown.get(entity)
    if (known !== undefined) return known
    const columns = new Set(byField(entity.columns.filter((column) => hasField(entity, column))).values())
    shown.set(entity, columns)
    return columns
  }
  const seesColumn = (entity: EntityFacts, column: ColumnFacts): boolean => shownColumns(entity).has(column)
  const inputs = (entity: EntityFacts, kind: 'insert' | 'update'): readonly ColumnFacts[] =>
    entity.columns.filter(
      (column) =>
        column.input &&
        column.field !== null &&
        !access(entity).withheld.has(column.column) &&
        hasType(column) &&
        seesType(column) &&
        writes(rights, entity, column, kind),
    )
  const insertable = (entity: EntityFacts): readonly ColumnFacts[] =>
    insertsDefaults(rights, entity) ? inputs(entity, 'insert') : []
  const presets: VisibleColumns['presets'] = (entity, command) =>
    access(entity).presets.flatMap((preset): readonly PresetPlace[] => {
      const at = preset[command]
      const column = columnOf(entity, preset.column)
      return at !== null && column !== undefined && writes(rights, entity, column, command)
        ? [{ column: preset.column, at }]
        : []
    })
  return {
    seesColumn,
    findsBy: (entity, name) =>
      entity.columns.some((one) => one.column === name && seesColumn(entity, one) && compares(one.type)),
    readsColumn: (entity, column) => selects(rights, entity, column),
    filterable: (entity) =>
      entity.columns.filter((column) => column.filter && compares(column.type) && seesColumn(entity, column)),
    orderable: (entity) => entity.columns.filter((column) => column.order && seesColumn(entity, column)),
    insertable,
    updatable: (entity) => inputs(entity, 'update'),
    marker: (entity) => markerOf(additions, entity),
    deletes: (entity) => deletes(rights, entity, markerOf(additions, entity)),
    takeovers: (entity) =>
      inputs(entity, 'update').filter(
        (column) => selects(rights, entity, column) && !access(entity).writeOnly.has(column.column),
      ),
    presets,
  }
}

/** Column settings in a relation's comment for one role (spec/graphql.md 17.5). */
interface Access {
  /** SQL names of the columns that are absent from inputs. */
  readonly withheld: ReadonlySet<string>
  /** SQL names of the columns that are absent from answers. */
  readonly writeOnly: ReadonlySet<string>
  readonly presets: readonly PresetFacts[]
}

const unrestricted: Access = { withheld: new Set(), writeOnly: new Set(), presets: [] }

/** @param names the role, then those whose privileges it has, then `public`; the first preset of a column is used */
export function accessOf(names: readonly Grantee[], { access = [] }: EntityFacts): Access {
  const held = names.flatMap((name) => access.find(({ role }) => role === name) ?? [])
  if (held.length === 0) return unrestricted
  const presets = new Map(held.toReversed().flatMap((one) => one.presets.map((preset) => [preset.column, preset])))
  return {
    withheld: new Set(held.flatMap(({ withheld }) => withheld)),
    writeOnly: new Set(held.flatMap(({ writeOnly }) => writeOnly)),
    presets: [...presets.values()],
  }
}

export interface StatedCondition extends Pick<ConditionFacts, 'operator' | 'value'> {
  readonly field: string
  readonly column: ColumnFacts
}

/** The part of a role's view that decides filterable columns. */
type Filtering = Pick<VisibleColumns, 'filterable'> & Pick<VisibleTypes, 'enum'> & { readonly names: Names }

/** Conditions of a comment on columns that the role can filter by. */
export function statedConditions(
  visible: Filtering,
  entity: EntityFacts,
  stated: readonly ConditionFacts[],
): readonly StatedCondition[] {
  if (stated.length === 0) return []
  const fields = [...byField(visible.filterable(entity))]
  return stated.flatMap(({ column: name, operator, value }) =>
    fields.flatMap(([field, column]) => {
      const item = column.type?.kind === 'enum' ? visible.enum(column.type.id) : undefined
      const isOpaque = item !== undefined && !visible.names.ownsEnum(item) && operator !== 'is'
      return column.column === name && !isOpaque ? [{ field, column, operator, value }] : []
    }),
  )
}

/** The default conditions of a relation's collections (spec/graphql.md 17.5). */
export const defaultFilterOf = (visible: Filtering, entity: EntityFacts): readonly StatedCondition[] =>
  statedConditions(visible, entity, entity.defaultFilter ?? [])

interface DefaultOrder extends DefaultOrderFacts {
  readonly field: string
}

/** The default order of a relation's collections (spec/graphql.md 17.5): the fields that the role can sort by. */
export function defaultOrderOf(
  visible: Pick<VisibleColumns, 'orderable'>,
  entity: EntityFacts,
): readonly DefaultOrder[] {
  const { defaultOrder } = entity
  if (defaultOrder === undefined) return []
  const fields = [...byField(visible.orderable(entity))]
  return defaultOrder.flatMap((facts) =>
    fields.flatMap(([field, { column }]) => (column === facts.column ? [{ ...facts, field }] : [])),
  )
}
