import type { ColumnFacts, EntityFacts, TypeFacts, UniqueKeyFacts } from '../../contract/manifest.ts'
import { accessOf, type Access } from './access.ts'
import type { Rights } from './rights.ts'
import { namesType, type VisibleTypes } from './types.ts'

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
  /** Whether rows can be deleted: with a marker, the marker must be writable. */
  readonly deletes: (entity: EntityFacts) => boolean
  /** Columns that an existing row can take from the new one: these are read (PostgreSQL manual, INSERT). */
  readonly takeovers: (entity: EntityFacts) => readonly ColumnFacts[]
  /** Columns that the statement sets to an expression of the builder, by its place; the role may write them. */
  readonly presets: (entity: EntityFacts, command: 'insert' | 'update') => readonly PresetPlace[]
  /** Unique keys for `onConflict`: an insert gives all their values, and Postgres reads them (spec/graphql.md 17). */
  readonly nameableKeys: (entity: EntityFacts) => readonly UniqueKeyFacts[]
}

export interface PresetPlace {
  /** SQL name. */
  readonly column: string
  readonly at: number
}

/** Columns by field; of two with one field the later is used (spec/graphql.md 2.4). */
export const byField = (columns: readonly ColumnFacts[]): ReadonlyMap<string, ColumnFacts> =>
  new Map(columns.map((column) => [column.field ?? '', column]))

/** Whether the column has a type in the API. */
export const hasType = (column: ColumnFacts): column is ColumnFacts & TypeFacts => column.type !== null

const columnName = ({ column }: { readonly column: string }): string => column

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

export function columnsVisibleTo(rights: Rights, { seesType, compares }: VisibleTypes): VisibleColumns {
  const { can } = rights
  const accesses = new Map<EntityFacts, Access>()
  const access = (entity: EntityFacts): Access => {
    const found = accesses.get(entity) ?? accessOf(rights.names, entity)
    accesses.set(entity, found)
    return found
  }
  const writes = (entity: EntityFacts, column: ColumnFacts, kind: 'insert' | 'update'): boolean =>
    can(entity.grants[kind]) || can(column.grants[kind])
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
        writes(entity, column, kind),
    )
  /** Citus adds defaults to inserts, so the role needs privileges on their columns as well. */
  const insertsDefaults = ({ grants, sentDefaults = [] }: EntityFacts): boolean =>
    can(grants.insert) || sentDefaults.every(can)
  const insertable = (entity: EntityFacts): readonly ColumnFacts[] =>
    insertsDefaults(entity) ? inputs(entity, 'insert') : []
  const presets: VisibleColumns['presets'] = (entity, command) =>
    access(entity).presets.flatMap((preset): readonly PresetPlace[] => {
      const at = preset[command]
      const column = columnOf(entity, preset.column)
      return at !== null && column !== undefined && writes(entity, column, command)
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
    deletes: (entity) => {
      const { grants, softDelete } = entity
      if (!can(grants.delete) || softDelete === undefined) return can(grants.delete)
      const mark = softDelete === null ? undefined : columnOf(entity, softDelete.column)
      return mark !== undefined && writes(entity, mark, 'update')
    },
    takeovers: (entity) =>
      inputs(entity, 'update').filter(
        (column) => selects(rights, entity, column) && !access(entity).writeOnly.has(column.column),
      ),
    presets,
    nameableKeys: (entity) => {
      const { uniqueKeys = [] } = entity
      if (uniqueKeys.length === 0) return []
      const given = new Set([...byField(insertable(entity)).values(), ...presets(entity, 'insert')].map(columnName))
      return uniqueKeys.filter(
        ({ columns, generated = [], whole }) =>
          (whole ? can(entity.grants.select) : selectsAll(rights, entity, columns)) &&
          columns.every((name) => given.has(name) || generated.includes(name)),
      )
    },
  }
}
