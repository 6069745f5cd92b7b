import type {
  AttributeFacts,
  ColumnFacts,
  CompositeFacts,
  EntityFacts,
  EnumFacts,
  FunctionFacts,
  Grantees,
  Manifest,
  ObjectId,
  RelationFacts,
  TypeFacts,
  UniqueKeyFacts,
  ValueType,
} from '../contract/manifest.ts'
import { factsOf } from '../contract/role-facts.ts'
import { createNames, type Names } from '../contract/type-names.ts'
import { withoutMemory, type Memo } from '../lib/memo.ts'

/**
 * What one role may see of a manifest (spec/graphql.md 1.4), before it is put into GraphQL types. Everything about single relations is
 * found when it is first asked for: a role on a database of thousands of tables pays for those that it uses.
 */
export interface RoleVisibility {
  readonly manifest: Manifest
  readonly role: string
  readonly names: Names
  /** Relations that have types and root fields, by precedence. */
  readonly exposed: readonly EntityFacts[]
  /** True when the relation has a row type: exposed, or without a key and only reachable through functions. */
  readonly isTyped: (entity: EntityFacts) => boolean
  readonly isExposed: (entity: EntityFacts) => boolean
  readonly entity: (id: ObjectId) => EntityFacts | undefined
  readonly enum: (id: ObjectId) => EnumFacts | undefined
  /** A composite type that the role may look into. */
  readonly composite: (id: ObjectId) => CompositeFacts | undefined
  /** Its attributes whose types the role may use; those with a field in the filter type. */
  readonly attributes: (item: CompositeFacts) => readonly AttributeFacts[]
  readonly comparableAttributes: (item: CompositeFacts) => readonly AttributeFacts[]
  readonly can: (grantees: Grantees) => boolean
  /** Whether the type of a value may be used and shown. */
  readonly seesType: (facts: TypeFacts) => boolean
  readonly seesColumn: (entity: EntityFacts, column: ColumnFacts) => boolean
  /** Whether the enum and its filter may be named by this role. */
  readonly seesEnum: (item: EnumFacts) => boolean
  /** Whether values of the type can be compared by this role. */
  readonly compares: (type: ValueType) => boolean
  /** SQL name of some column that the role may read; an exposed relation has one. */
  readonly readableColumn: (entity: EntityFacts) => string
  readonly seesRelation: (entity: EntityFacts, relation: RelationFacts) => boolean
  readonly seesFunction: (fn: FunctionFacts) => boolean
  readonly seesComputed: (entity: EntityFacts, fn: FunctionFacts) => boolean
  /** Columns with a field in the filter type, in the order type, in the inputs. */
  readonly filterable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly orderable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly insertable: (entity: EntityFacts) => readonly ColumnFacts[]
  readonly updatable: (entity: EntityFacts) => readonly ColumnFacts[]
  /** Columns that a row can take over from one that meets it: what is taken over is read (PostgreSQL manual, INSERT). */
  readonly takeovers: (entity: EntityFacts) => readonly ColumnFacts[]
  /** Unique keys that `onConflict` can name: Postgres reads what they consist of (spec/graphql.md 17). */
  readonly nameableKeys: (entity: EntityFacts) => readonly UniqueKeyFacts[]
}

/** Columns by field; of two with one field the later one has it (spec/graphql.md 2.4). */
export const byField = (columns: readonly ColumnFacts[]): ReadonlyMap<string, ColumnFacts> =>
  new Map(columns.map((column) => [column.field ?? '', column]))

/** Whether the column has a type in the API. */
export const hasType = (column: ColumnFacts): column is ColumnFacts & TypeFacts => column.type !== null

/** Whether values of the type are places, which only spatial operators compare. */
export const isGeo = (type: ValueType | null): boolean =>
  type?.kind === 'scalar' && type.name === 'GeoJSON' && !type.list

const idOf = ({ id }: EntityFacts): ObjectId => id

const placesById = (ids: readonly ObjectId[]): ReadonlyMap<ObjectId, number> =>
  new Map(ids.map((id, place) => [id, place]))

/** The same set as long as it is given the same names, so that what is found by it is not looked for again. */
const usableSchemas = (...names: readonly string[]): ReadonlySet<string> => new Set(names)
const effectiveRoles = (...names: readonly string[]): ReadonlySet<string> => new Set(names)

const isGranted = (grantees: Grantees, superuser: boolean, effective: ReadonlySet<string>): boolean =>
  superuser || grantees.some((grantee) => effective.has(grantee))

function isReadable(
  { schema, grants, columns }: EntityFacts,
  usable: ReadonlySet<string>,
  superuser: boolean,
  effective: ReadonlySet<string>,
): boolean {
  const selects = (grantees: Grantees): boolean => isGranted(grantees, superuser, effective)
  return usable.has(schema) && (selects(grants.select) || columns.some((column) => selects(column.grants.select)))
}

/** @param memo of the role: what another manifest says the same for it is not looked for again */
export function visibleTo(manifest: Manifest, role: string, memo: Memo = withoutMemory): RoleVisibility {
  const facts = factsOf(manifest, role)
  const effective = memo.one(effectiveRoles, ...facts.effective)
  const can = (grantees: Grantees): boolean => isGranted(grantees, facts.superuser, effective)

  const usable = memo.one(usableSchemas, ...manifest.schemas.filter(({ usage }) => can(usage)).map(({ name }) => name))
  const closed = new Set(
    [...manifest.schemas, ...(manifest.typeSchemas ?? [])].filter(({ usage }) => !can(usage)).map(({ name }) => name),
  )
  const places = memo.one(placesById, memo.map(idOf, manifest.entities))
  const entityOf = (id: ObjectId): EntityFacts | undefined => manifest.entities[places.get(id) ?? -1]
  const enums = new Map(manifest.enums.map((item) => [item.id, item]))

  const selects = (entity: EntityFacts, column: ColumnFacts): boolean =>
    can(entity.grants.select) || can(column.grants.select)

  const readable = memo.map(isReadable, manifest.entities, usable, facts.superuser, effective)
  const names = createNames(manifest, readable, memo)
  const isTyped = (entity: EntityFacts): boolean => names.owns(entity)
  const isExposed = (entity: EntityFacts): boolean => entity.key.length > 0 && names.owns(entity)

  const writesType = ({ typeSchema, underSchema }: Omit<TypeFacts, 'type'>): boolean =>
    !(typeSchema !== null && closed.has(typeSchema)) && !(underSchema !== undefined && closed.has(underSchema))
  const seesType = (facts: TypeFacts): boolean => {
    const { type } = facts
    if (!writesType(facts)) return false
    if (type.kind === 'composite') return compositeOf(type.id) !== undefined
    if (type.kind === 'scalar' || !type.list) return true
    const item = enums.get(type.id)
    return item === undefined || can(item.usage)
  }
  const composites = new Map((manifest.composites ?? []).map((item) => [item.id, item]))
  const compositeOf = (id: ObjectId): CompositeFacts | undefined => {
    const item = composites.get(id)
    return item !== undefined && usable.has(item.schema) && names.ownsComposite(item) && attributesOf(item).length > 0
      ? item
      : undefined
  }
  const attributesOf = (item: CompositeFacts): readonly AttributeFacts[] => item.fields.filter(seesType)
  const comparableAttributes = (item: CompositeFacts): readonly AttributeFacts[] =>
    attributesOf(item).filter(({ filter, type }) => filter && usesEnum(type))
  /**
   * Enums are compared as such only by who may use them (spec/graphql.md 1.4); lists of what has no type of its own
   * have no filter.
   */
  const usesEnum = (type: ValueType | null): boolean => {
    if (type?.kind === 'composite') {
      const composite = compositeOf(type.id)
      return composite !== undefined && comparableAttributes(composite).length > 0
    }
    const item = type?.kind === 'enum' ? enums.get(type.id) : undefined
    if (item === undefined) return true
    return names.ownsEnum(item) ? can(item.usage) : type?.list === false
  }
  const hasField = (entity: EntityFacts, column: ColumnFacts): boolean =>
    column.field !== null && selects(entity, column) && hasType(column) && seesType(column)
  const shown = new Map<EntityFacts, ReadonlySet<ColumnFacts>>()
  // A column that lost its field to a later one is shown nowhere, not even where the later one cannot stand
  // (spec/graphql.md 2.4).
  const shownColumns = (entity: EntityFacts): ReadonlySet<ColumnFacts> => {
    const known = shown.get(entity)
    if (known !== undefined) return known
    const columns = new Set(byField(entity.columns.filter((column) => hasField(entity, column))).values())
    shown.set(entity, columns)
    return columns
  }
  const seesColumn = (entity: EntityFacts, column: ColumnFacts): boolean => shownColumns(entity).has(column)
  const columnOf = (entity: EntityFacts, name: string): ColumnFacts | undefined =>
    entity.columns.find((column) => column.column === name)
  const selectsAll = (entity: EntityFacts, columns: readonly string[]): boolean =>
    can(entity.grants.select) ||
    columns.every((name) => {
      const column = columnOf(entity, name)
      return column !== undefined && can(column.grants.select)
    })
  /** Operators of a type lie where the type does. */
  const comparesAll = (entity: EntityFacts, columns: readonly string[]): boolean =>
    closed.size === 0 ||
    columns.every((name) => {
      const column = columnOf(entity, name)
      return column === undefined || writesType(column)
    })
  const seesResult = (fn: FunctionFacts): boolean => {
    if (fn.result.kind === 'void') return true
    if (fn.result.kind === 'value') return seesType(fn.result)
    const target = entityOf(fn.result.entity)
    return target !== undefined && isTyped(target)
  }
  const hasExposedResult = ({ result }: FunctionFacts): boolean => {
    const target = result.kind === 'row' || result.kind === 'set' ? entityOf(result.entity) : undefined
    return target === undefined || isExposed(target)
  }
  const executes = (fn: FunctionFacts): boolean =>
    usable.has(fn.schema) && can(fn.execute) && fn.args.every(seesType) && seesResult(fn)
  const inputs = (entity: EntityFacts, kind: 'insert' | 'update'): readonly ColumnFacts[] =>
    entity.columns.filter(
      (column) =>
        column.input &&
        column.field !== null &&
        hasType(column) &&
        seesType(column) &&
        (can(entity.grants[kind]) || can(column.grants[kind])),
    )

  return {
    manifest,
    role,
    names,
    exposed: names.exposed,
    isTyped,
    isExposed,
    entity: entityOf,
    enum: (id) => enums.get(id),
    composite: compositeOf,
    attributes: attributesOf,
    comparableAttributes,
    can,
    seesType,
    seesColumn,
    seesEnum: (item) => names.ownsEnum(item) && usable.has(item.schema) && can(item.usage),
    compares: usesEnum,
    readableColumn: (entity) => {
      const readable = entity.columns.find((column) => selects(entity, column))
      if (readable === undefined) throw new Error(`${role} may read no column of ${entity.id}`)
      return readable.column
    },
    seesRelation: (entity, relation) => {
      const target = entityOf(relation.target)
      return (
        target !== undefined &&
        isExposed(target) &&
        selectsAll(entity, relation.local) &&
        selectsAll(target, relation.foreign) &&
        comparesAll(entity, relation.local) &&
        comparesAll(target, relation.foreign)
      )
    },
    seesFunction: (fn) => executes(fn) && hasExposedResult(fn),
    // A computed field is handed the whole row, so the whole row must be readable.
    seesComputed: (entity, fn) => can(entity.grants.select) && executes(fn),
    filterable: (entity) =>
      entity.columns.filter((column) => column.filter && usesEnum(column.type) && seesColumn(entity, column)),
    orderable: (entity) => entity.columns.filter((column) => column.order && seesColumn(entity, column)),
    insertable: (entity) => inputs(entity, 'insert'),
    updatable: (entity) => inputs(entity, 'update'),
    takeovers: (entity) => inputs(entity, 'update').filter((column) => selects(entity, column)),
    nameableKeys: (entity) =>
      (entity.uniqueKeys ?? []).filter(({ columns, whole }) =>
        whole ? can(entity.grants.select) : selectsAll(entity, columns),
      ),
  }
}
