import type { LaterState } from '../../../runtime/contract/artifact.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import { additions } from '../../additions/table.ts'
import type { Catalog, CatalogColumn, CatalogRelation, CatalogType } from '../../catalog/catalog.ts'
import { isOn } from '../../comments/additions.ts'
import type { Compiled } from '../../compile.ts'
import { once } from '../../../runtime/lib/caches.ts'

/**
 * Whether a compiled schema still holds for requests that do not concern the tables that changed since (docs/exactness.md). It
 * does if a compile would make the same of everything else. Other objects depend on a table by its name, keys, row-level security, owner
 * and privileges, by settings in its comments, and by its columns' types if these have names of their own. So these must be equal,
 * as must be everything else of the catalogue; and only tables without settings are considered.
 */

/** @param now the catalogue of a later state; unchanged objects are identical */
export type JudgeLater = (now: Catalog) => LaterState | null

/** It remembers what it judged: while one change follows another, each state has the changes of the last one. */
export function createJudgeLater(compiled: Compiled): JudgeLater {
  const { catalog: before, revision } = compiled
  const { allowlists, report, distributed } = revision.manifest
  const isOfAll = [allowlists, report, distributed].some((part) => part !== undefined) || usesForms(compiled)
  const settings = once(() => settingsIn(before))
  const judged = new WeakMap<CatalogRelation, boolean>()
  const keepsOthers = (now: Catalog, [one, other]: Changed): boolean => {
    // Types without a name do not change, and a type that comes is judged with what mentions it first.
    const isKnown = judged.get(other) ?? (isApart(one, other, now) && !isNamed(settings(), other))
    judged.set(other, isKnown)
    return isKnown
  }
  return (now) => {
    if (isOfAll || now.distributed !== undefined || now.version === null) return null
    const changed = changedRelations(before, now)
    if (changed === null || !isEqualBeside(before, now, changed)) return null
    if (!changed.every((pair) => keepsOthers(now, pair))) return null
    return { version: now.version, changed: changed.map(([{ schema, name }]) => objectId(schema, name)) }
  }
}

type Changed = readonly [before: CatalogRelation, now: CatalogRelation]

/** Null: some came or went. */
function changedRelations({ relations: before }: Catalog, { relations: now }: Catalog): readonly Changed[] | null {
  const others = before.flatMap((relation, place) => (relation === now[place] ? [] : [place]))
  const pairs = others.map((place) => [before[place], now[place]] as const)
  const isChanged = (pair: (typeof pairs)[number]): pair is Changed =>
    pair[0] !== undefined && pair[1] !== undefined && pair[0].oid === pair[1].oid
  return before.length === now.length && pairs.every(isChanged) ? pairs : null
}

/** Whether everything but relations is equal. */
function isEqualBeside(before: Catalog, now: Catalog, changed: readonly Changed[]): boolean {
  const oids = new Set(changed.map(([{ oid }]) => oid))
  const others = (list: readonly string[] = []): readonly string[] => list.filter((oid) => !oids.has(oid))
  const beside = ({
    relations: _relations,
    version: _version,
    types,
    filled,
    selfContained,
    ...rest
  }: Catalog): object => ({
    ...rest,
    types: types.filter((type) => !isNameless(type)),
    filled: others(filled),
    selfContained: others(selfContained),
  })
  const [one, other] = [Object.entries(beside(before)), new Map(Object.entries(beside(now)))]
  return one.length === other.size && one.every(([name, value]) => isEqual(value, other.get(name)))
}

/** Most parts of long lists are identical. */
const isEqual = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((item, place) => item === other[place] || sameJson(item, other[place]))
    : sameJson(one, other)

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Types whose names are not in the API. */
const isNameless = ({ schema, kind }: CatalogType): boolean => schema === 'pg_catalog' && kind === 'b'

/** Whether other objects are made as before. */
function isApart(before: CatalogRelation, now: CatalogRelation, { types }: Catalog): boolean {
  const isTable = now.kind === 'r' && restOf(before) === restOf(now) && !isSet(before) && !isSet(now)
  const plain = new Set(types.filter(isNameless).map(({ oid }) => oid))
  const keys = keyColumns(now)
  const isFree = ({ name, type, grants }: CatalogColumn): boolean =>
    plain.has(type) && grants.length === 0 && !keys.has(name)
  // The row type is among the types if something mentions it.
  return isTable && changedColumns(before, now).every(isFree) && types.every(({ oid }) => oid !== now.rowType)
}

const restOf = (relation: CatalogRelation): string => JSON.stringify({ ...relation, comment: null, columns: [] })

const hasSetting = (comment: string | null): boolean => comment?.includes('@graphql(') === true

const isSet = ({ comment, columns, foreignKeys }: CatalogRelation): boolean =>
  [{ comment }, ...columns, ...foreignKeys].some((part) => hasSetting(part.comment))

const keyColumns = ({ primaryKey, uniques, uniqueKeys, foreignKeys }: CatalogRelation): ReadonlySet<string> =>
  new Set([
    ...(primaryKey ?? []),
    ...uniques.flat(),
    ...uniqueKeys.flatMap(({ parts }) => parts.map((part) => ('column' in part ? part.column : ''))),
    ...foreignKeys.flatMap(({ columns }) => columns),
  ])

/** Columns of each state that the other lacks. */
function changedColumns(...[before, now]: Changed): readonly CatalogColumn[] {
  const lacking = (one: CatalogRelation, other: CatalogRelation): readonly CatalogColumn[] => {
    const texts = new Set(other.columns.map((column) => JSON.stringify(column)))
    return one.columns.filter((column) => !texts.has(JSON.stringify(column)))
  }
  return [...lacking(before, now), ...lacking(now, before)]
}

/** Comments with settings, which are those of a later state as well: tables that change have none. */
const settingsIn = ({ schemas, relations, functions }: Catalog): readonly string[] =>
  [...schemas, ...relations, ...functions].flatMap(({ comment }) =>
    comment !== null && hasSetting(comment) ? [comment] : [],
  )

/** Whether the settings of others may name it. */
const isNamed = (settings: readonly string[], { name }: CatalogRelation): boolean =>
  settings.some((comment) => comment.includes(name))

/** The types of forms are there while some column has such values. */
const usesForms = ({ annotated }: Compiled): boolean =>
  annotated.schemas.some((schema) => formKeys.some((key) => isOn(key, schema)))

const formKeys = additions.flatMap(({ forms = [] }) => forms.flatMap(({ keys }) => keys))
