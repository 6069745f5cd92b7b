import type { Memo } from '../lib/memo.ts'
import { withoutMemories, type RoleMemory } from '../lib/memories.ts'
import { atOnce } from '../lib/steps.ts'
import type { CompositeFacts, EntityAdditions, EntityFacts, EnumFacts, Manifest } from './manifest.ts'
import { bucketTypes } from './buckets.ts'
import { filterForms, type FormName } from './filter-forms.ts'
import { scalarNames } from './scalar-names.ts'

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
  groupBy: 'GroupBy',
  grouped: 'Grouped',
  groupKey: 'GroupKey',
  groupOrder: 'GroupOrder',
  groupKeyOrder: 'GroupKeyOrder',
  sumOrder: 'SumOrder',
  avgOrder: 'AvgOrder',
  minOrder: 'MinOrder',
  maxOrder: 'MaxOrder',
  having: 'Having',
  havingSum: 'HavingSum',
  havingAvg: 'HavingAvg',
  havingMin: 'HavingMin',
  havingMax: 'HavingMax',
} as const

export type NamePart = keyof typeof parts
const partList = Object.keys(parts) as readonly NamePart[]

/** Parts that an addition brings: their names are anybody's until some relation has the addition. */
const additionOf: Readonly<Partial<Record<NamePart, keyof EntityAdditions>>> = {
  relationFilter: 'relationFilters',
  relationOrderBy: 'orderByRelated',
  distinctField: 'distinctOn',
  onConflict: 'upsert',
  constraint: 'upsert',
  updateField: 'upsert',
  groupBy: 'groups',
  grouped: 'groups',
  groupKey: 'groups',
  groupOrder: 'groups',
  groupKeyOrder: 'groups',
  sumOrder: 'groups',
  avgOrder: 'groups',
  minOrder: 'groups',
  maxOrder: 'groups',
  having: 'groups',
  havingSum: 'groups',
  havingAvg: 'groups',
  havingMin: 'groups',
  havingMax: 'groups',
}

const additions = [...new Set(Object.values(additionOf)), 'enumArrays'] as const

/** The parts of relations where some have these additions. */
const partsWith = (present: ReadonlySet<string>): readonly NamePart[] =>
  partList.filter((part) => {
    const addition = additionOf[part]
    return addition === undefined || present.has(addition)
  })

/** What stands between a base and a part where both together are another part: `Relation` + `Filter`. */
const infixesOf = (used: readonly NamePart[]): readonly string[] => [
  ...new Set(
    used.flatMap((long) =>
      used.flatMap((short) => {
        const rest = parts[long].slice(0, parts[long].length - parts[short].length)
        return short !== 'row' && rest !== '' && parts[long].endsWith(parts[short]) ? [rest] : []
      }),
    ),
  ),
]

/** Those that are there in every schema. */
const alwaysScalars = scalarNames.filter((name) => name !== 'GeoJSON')
const builtIn: readonly string[] = [
  ...alwaysScalars,
  ...alwaysScalars.flatMap((name) => [`${name}Filter`, `${name}ListFilter`]),
  'Query',
  'Mutation',
  'Subscription',
  'Node',
  'PageInfo',
  'FilterIs',
  'OrderByDirection',
]

/** Most names have no such ending; one comparison shows that. */
const anyPart = new RegExp(`(?:${partList.flatMap((part) => parts[part] || []).join('|')})$`)

/** What a name is, or would be a part of: `PostEdge` -> PostEdge, Post. */
const basesOf = (name: string, used: readonly NamePart[]): readonly string[] =>
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
const geoNames = ['GeoJSON', 'GeoJSONFilter', 'GeoJSONDistance']

/** The same object as long as the additions are the same. */
const reservedWith = (geo: boolean, groups: boolean, ...forms: readonly FormName[]): Reserved =>
  reserve([
    ...builtIn,
    ...(geo ? geoNames : []),
    ...(groups ? bucketTypes : []),
    ...forms.flatMap((form) => filterForms[form].types),
  ])

const reservedIn = ({ geo, groups, forms = [] }: Manifest, memo: Memo): Reserved =>
  geo === true || groups === true || forms.length > 0
    ? memo.one(reservedWith, geo === true, groups === true, ...forms)
    : reservedAlways

const validName = /^[_A-Za-z][_0-9A-Za-z]*$/

export interface Names {
  /** True when the relation has the types that its base name promises. */
  readonly owns: (entity: EntityFacts) => boolean
  readonly ownsEnum: (item: EnumFacts) => boolean
  readonly ownsComposite: (item: CompositeFacts) => boolean
  /** Which type bears a name. */
  readonly find: (
    name: string,
  ) => { readonly kind: 'entity'; readonly entity: EntityFacts; readonly part: NamePart } | ValuePart | undefined
  /** Whether enums have filters for arrays of them. */
  readonly listFilters: boolean
  /** Relations with a key that own their names, by precedence. */
  readonly exposed: readonly EntityFacts[]
  /** Those that do not own theirs. */
  readonly nameless: () => readonly EntityFacts[]
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

/** Which relations have the types that their base names promise. */
interface Claims {
  /** By base name: the place in the manifest's list. */
  readonly places: ReadonlyMap<string, number>
  /** By place: whether the relation is one of them and has a key. */
  readonly keyed: readonly boolean[]
  readonly used: readonly NamePart[]
  /** Whether enums have filters for arrays of them. */
  readonly listFilters: boolean
}

/** The relation and the part of it that a name would be, e.g. `PostEdge` -> Post, edge. */
function findPart(
  { places, used }: Pick<Claims, 'places' | 'used'>,
  name: string,
): { readonly place: number; readonly part: NamePart } | undefined {
  const own = places.get(name)
  if (own !== undefined) return { place: own, part: 'row' }
  if (!anyPart.test(name)) return undefined
  for (const part of used) {
    if (!name.endsWith(parts[part])) continue
    const place = places.get(name.slice(0, name.length - parts[part].length))
    if (place !== undefined) return { place, part }
  }
  return undefined
}

function claimNames(namings: readonly Naming[], readable: readonly boolean[], reserved: Reserved): Claims {
  const places = new Map<string, number>()
  const present = new Set(namings.flatMap((naming) => naming.additions))
  const used = partsWith(present)
  const infixes = infixesOf(used)
  /** Names one of whose parts would be the name of a claimed relation. */
  const blocked = new Set<string>()
  /** Whether a part of one would be a part of the other: the filter of PostRelation is the relation filter of Post. */
  const sharesPart = (base: string): boolean =>
    infixes.some(
      (infix) =>
        places.has(base + infix) || (base.endsWith(infix) && places.has(base.slice(0, base.length - infix.length))),
    )
  const isFree = (base: string): boolean =>
    validName.test(base) &&
    !base.startsWith('__') &&
    !reserved.bases.has(base) &&
    !blocked.has(base) &&
    findPart({ places, used }, base) === undefined &&
    !sharesPart(base)
  const claim = (keyed: boolean): void => {
    for (const [place, naming] of namings.entries()) {
      const { name } = naming
      if (readable[place] !== true || naming.keyed !== keyed || !isFree(name)) continue
      places.set(name, place)
      for (const base of basesOf(name, used)) blocked.add(base)
    }
  }
  claim(true)
  const keyed = namings.map(({ name }, place) => places.get(name) === place)
  claim(false)
  return { places, keyed, used, listFilters: present.has('enumArrays') }
}

/** What of a relation decides who gets which name. */
interface Naming {
  readonly name: string
  readonly keyed: boolean
  readonly additions: readonly string[]
}

/** As text, which is equal where it says the same. */
function namingText(entity: EntityFacts): string {
  const naming: Naming = {
    name: entity.name,
    keyed: entity.key.length > 0,
    additions: additions.filter((addition) => entity[addition] === true),
  }
  return JSON.stringify(naming)
}

const readNaming = (text: string): Naming => JSON.parse(text) as Naming

const placesWithoutName = (namings: readonly Naming[], { places }: Claims): readonly number[] =>
  namings.flatMap(({ name }, place) => (places.get(name) === place ? [] : [place]))

const keyedOf = (entities: readonly EntityFacts[], keyed: readonly boolean[]): readonly EntityFacts[] =>
  entities.filter((_, place) => keyed[place])

/**
 * @param readable of each relation of the manifest, whether it counts
 * @param memory where another manifest comes to the same names, they are not looked for again
 */
export function createNames(
  manifest: Manifest,
  readable: readonly boolean[],
  { shared, own }: RoleMemory = withoutMemories,
): Names {
  const others = new Map<string, ValuePart>()
  const reserved = reservedIn(manifest, shared)
  const namings = atOnce(shared.map(readNaming, atOnce(shared.map(namingText, manifest.entities))))
  const claims = own.one(claimNames, namings, readable, reserved)
  const entityAt = (place: number): EntityFacts | undefined => manifest.entities[place]

  const isFreeOfOthers = (name: string): boolean =>
    validName.test(name) &&
    !name.startsWith('__') &&
    !reserved.names.has(name) &&
    !others.has(name) &&
    findPart(claims, name) === undefined
  const claimOthers = (types: readonly (readonly [name: string, type: ValuePart])[]): void => {
    if (!types.every(([name]) => isFreeOfOthers(name))) return
    for (const [name, type] of types) others.set(name, type)
  }
  const { listFilters } = claims
  for (const item of manifest.enums) {
    if (item.values.length > 0) claimOthers(enumTypes(item, listFilters))
  }
  for (const item of manifest.composites ?? []) if (item.fields.length > 0) claimOthers(compositeTypes(item))

  return {
    owns: (entity) => entityAt(claims.places.get(entity.name) ?? -1) === entity,
    ownsEnum: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'enum' in found && found.enum === item
    },
    ownsComposite: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'composite' in found && found.composite === item
    },
    listFilters,
    exposed: own.one(keyedOf, manifest.entities, claims.keyed),
    nameless: () => own.one(placesWithoutName, namings, claims).flatMap((place) => entityAt(place) ?? []),
    find: (name) => {
      const found = findPart(claims, name)
      const entity = found && entityAt(found.place)
      return entity === undefined ? others.get(name) : { kind: 'entity', entity, part: found?.part ?? 'row' }
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
