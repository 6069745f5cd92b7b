import { createRecall } from '../lib/recall.ts'
import type { CompositeFacts, EntityAdditions, EntityFacts, EnumFacts, Manifest } from './manifest.ts'

/**
 * Names of types, and who gets one that two want (spec/graphql.md 2.2, 2.4): built-in names stay; then the first
 * relation by precedence, those with a key before those without; then enums. The losers have no type.
 */

export const parts = {
  row: '',
  connection: 'Connection',
  edge: 'Edge',
  filter: 'Filter',
  orderBy: 'OrderBy',
  insertInput: 'InsertInput',
  updateInput: 'UpdateInput',
  insertResponse: 'InsertResponse',
  updateResponse: 'UpdateResponse',
  deleteResponse: 'DeleteResponse',
  aggregate: 'Aggregate',
  sum: 'SumAggregateResult',
  avg: 'AvgAggregateResult',
  min: 'MinAggregateResult',
  max: 'MaxAggregateResult',
  relationFilter: 'RelationFilter',
  relationOrderBy: 'RelationOrderBy',
  distinctField: 'DistinctField',
  onConflict: 'OnConflict',
  constraint: 'Constraint',
  updateField: 'UpdateField',
} as const

export type Part = keyof typeof parts
const partList = Object.keys(parts) as readonly Part[]

/** Parts that an addition brings: their names are anybody's until some relation has the addition. */
const additionOf: Readonly<Partial<Record<Part, keyof EntityAdditions>>> = {
  relationFilter: 'relationFilters',
  relationOrderBy: 'orderByRelated',
  distinctField: 'distinctOn',
  onConflict: 'upsert',
  constraint: 'upsert',
  updateField: 'upsert',
}

/** The parts that relations of this manifest have. */
export function partsIn({ entities }: Pick<Manifest, 'entities'>): readonly Part[] {
  const used = new Set<string>()
  for (const entity of entities) for (const addition of namingOf(entity).additions) used.add(addition)
  return partList.filter((part) => {
    const addition = additionOf[part]
    return addition === undefined || used.has(addition)
  })
}

/** What stands between a base and a part where both together are another part: `Relation` + `Filter`. */
const infixesOf = (used: readonly Part[]): readonly string[] => [
  ...new Set(
    used.flatMap((long) =>
      used.flatMap((short) => {
        const rest = parts[long].slice(0, parts[long].length - parts[short].length)
        return short !== 'row' && rest !== '' && parts[long].endsWith(parts[short]) ? [rest] : []
      }),
    ),
  ),
]

const scalarNames = [
  'ID',
  'Int',
  'Float',
  'String',
  'Boolean',
  'Date',
  'Time',
  'Datetime',
  'BigInt',
  'UUID',
  'JSON',
  'Cursor',
  'BigFloat',
  'Opaque',
]
const builtIn: readonly string[] = [
  ...scalarNames,
  ...scalarNames.flatMap((name) => [`${name}Filter`, `${name}ListFilter`]),
  'Query',
  'Mutation',
  'Subscription',
  'Node',
  'PageInfo',
  'FilterIs',
  'OrderByDirection',
]

/** Most names end like no part, which one look tells. */
const anyPart = new RegExp(`(?:${partList.flatMap((part) => parts[part] || []).join('|')})$`)

/** What a name is, or would be a part of: `PostEdge` -> PostEdge, Post. */
const basesOf = (name: string, used: readonly Part[]): readonly string[] =>
  anyPart.test(name)
    ? used.flatMap((part) => (name.endsWith(parts[part]) ? [name.slice(0, name.length - parts[part].length)] : []))
    : [name]

interface Reserved {
  readonly names: ReadonlySet<string>
  /** Bases with a part that bears one of these names. */
  readonly bases: ReadonlySet<string>
}

const reserve = (names: Iterable<string>): Reserved => {
  const all = new Set(names)
  return { names: all, bases: new Set([...all].flatMap((name) => basesOf(name, partList))) }
}

const reservedAlways = reserve(builtIn)
const reservedWithGeo = reserve([...builtIn, 'GeoJSON', 'GeoJSONFilter', 'GeoJSONDistance'])

const validName = /^[_A-Za-z][_0-9A-Za-z]*$/

/** What a relation alone says of its type names; each view of each revision asks again. */
interface Naming {
  /** Additions that bring it parts. */
  readonly additions: readonly string[]
  /** Its base name is one of GraphQL. */
  readonly valid: boolean
  /** Its base name ends like no part. */
  readonly simple: boolean
}

const recallNaming = createRecall<Naming>()

const namingOf = (entity: EntityFacts): Naming =>
  recallNaming(entity, [], () => ({
    additions: Object.values(additionOf).filter((addition) => entity[addition] === true),
    valid: validName.test(entity.name) && !entity.name.startsWith('__'),
    simple: !anyPart.test(entity.name),
  }))

export interface Names {
  /** True when the relation has the types that its base name promises. */
  readonly owns: (entity: EntityFacts) => boolean
  readonly ownsEnum: (item: EnumFacts) => boolean
  readonly ownsComposite: (item: CompositeFacts) => boolean
  /** Which type bears a name. */
  readonly find: (
    name: string,
  ) => { readonly kind: 'entity'; readonly entity: EntityFacts; readonly part: Part } | ValuePart | undefined
  /** Whether enums have filters for arrays of them. */
  readonly listFilters: boolean
}

type ValuePart = EnumPart | CompositePart

interface CompositePart {
  readonly kind: 'composite' | 'composite-filter'
  readonly composite: CompositeFacts
}

interface EnumPart {
  readonly kind: 'enum' | 'enum-filter' | 'enum-list-filter'
  readonly enum: EnumFacts
}

export function createNames(manifest: Manifest, readable: (entity: EntityFacts) => boolean): Names {
  const entities = new Map<string, EntityFacts>()
  const others = new Map<string, ValuePart>()
  const used = partsIn(manifest)
  const reserved = manifest.geo === true ? reservedWithGeo : reservedAlways
  const infixes = infixesOf(used)

  /** The relation and the part of it that a name would be, e.g. `PostEdge` -> Post, edge. */
  const findEntity = (name: string, simple = !anyPart.test(name)): { entity: EntityFacts; part: Part } | undefined => {
    const own = entities.get(name)
    if (own !== undefined) return { entity: own, part: 'row' }
    if (simple) return undefined
    for (const part of used) {
      if (!name.endsWith(parts[part])) continue
      const entity = entities.get(name.slice(0, name.length - parts[part].length))
      if (entity !== undefined) return { entity, part }
    }
    return undefined
  }
  /** Names one of whose parts would be the name of a claimed relation. */
  const blocked = new Set<string>()
  /** Whether a part of one would be a part of the other: the filter of PostRelation is the relation filter of Post. */
  const sharesPart = (base: string): boolean =>
    infixes.some(
      (infix) =>
        entities.has(base + infix) || (base.endsWith(infix) && entities.has(base.slice(0, base.length - infix.length))),
    )
  const isFree = (name: string, { valid, simple }: Naming): boolean =>
    valid && !reserved.bases.has(name) && !blocked.has(name) && findEntity(name, simple) === undefined && !sharesPart(name)

  const claim = (candidates: readonly EntityFacts[]): void => {
    for (const entity of candidates) {
      const { name } = entity
      const naming = namingOf(entity)
      if (!isFree(name, naming)) continue
      entities.set(name, entity)
      if (!naming.simple) for (const base of basesOf(name, used)) blocked.add(base)
    }
  }
  const candidates = manifest.entities.filter(readable)
  claim(candidates.filter((entity) => entity.key.length > 0))
  claim(candidates.filter((entity) => entity.key.length === 0))

  const isFreeOfOthers = (name: string): boolean =>
    validName.test(name) &&
    !name.startsWith('__') &&
    !reserved.names.has(name) &&
    !others.has(name) &&
    findEntity(name) === undefined
  const claimOthers = (types: readonly (readonly [name: string, type: ValuePart])[]): void => {
    if (!types.every(([name]) => isFreeOfOthers(name))) return
    for (const [name, type] of types) others.set(name, type)
  }
  const listFilters = manifest.entities.some((entity) => entity.enumArrays === true)
  for (const item of manifest.enums) {
    if (item.values.length > 0) claimOthers(enumTypes(item, listFilters))
  }
  for (const item of manifest.composites ?? []) if (item.fields.length > 0) claimOthers(compositeTypes(item))

  return {
    owns: (entity) => entities.get(entity.name) === entity,
    ownsEnum: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'enum' in found && found.enum === item
    },
    ownsComposite: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'composite' in found && found.composite === item
    },
    listFilters,
    find: (name) => {
      const found = findEntity(name)
      return found === undefined ? others.get(name) : { kind: 'entity', ...found }
    },
  }
}

/** The types that a composite type brings. */
const compositeTypes = (item: CompositeFacts): readonly (readonly [name: string, type: CompositePart])[] => [
  [item.name, { kind: 'composite', composite: item }],
  [`${item.name}Filter`, { kind: 'composite-filter', composite: item }],
]

/** The types that an enum brings. */
const enumTypes = (item: EnumFacts, listFilters: boolean): readonly (readonly [name: string, type: EnumPart])[] => [
  [item.name, { kind: 'enum', enum: item }],
  [`${item.name}Filter`, { kind: 'enum-filter', enum: item }],
  ...(listFilters ? [[`${item.name}ListFilter`, { kind: 'enum-list-filter', enum: item }] as const] : []),
]
