import { type Memo, withoutMemories, type RoleMemory } from '../lib/memo/memo.ts'
import { tablesOf, type Tables, type Lookup } from '../lib/memo/tables.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import type { CompositeFacts, EntityFacts, EnumFacts, Manifest, UnionFacts } from './manifest.ts'
import { basesOf, parts, partsWith, type NamePart, type PartTable, infixesOf } from './name-parts.ts'
import { scalarNames } from './scalar-names.ts'

/**
 * Names of types, and who gets a contested one (spec/graphql.md 2.2, 2.4): built-in names stay; then relations by
 * precedence, those with a key before those without; then enums, composites, unions, interfaces and their collections,
 * at last the inserts into relations that the role cannot read. The losers have no type.
 */

/** The scalars of every schema. */
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

interface Reserved {
  readonly names: ReadonlySet<string>
  /** Bases with a part of one of these names. */
  readonly bases: ReadonlySet<string>
}

/** The same object while the names are. */
function reservedWith(table: PartTable, ...added: readonly string[]): Reserved {
  const names = new Set([...builtIn, ...added])
  return { names, bases: new Set([...names].flatMap((name) => basesOf(table, name, table.list))) }
}

const reservedIn = (manifest: Manifest, table: PartTable, memo: Memo): Reserved =>
  memo.one(
    reservedWith,
    table,
    ...table.typeNames.flatMap(({ name, typeNames = [] }) => (Object.hasOwn(manifest, name) ? typeNames : [])),
    ...(manifest.forms ?? []).flatMap((form) => table.formTypes.get(form) ?? []),
  )

export interface Names {
  /** True if the relation owns the types of its base name. */
  readonly owns: (entity: EntityFacts) => boolean
  readonly ownsEnum: (item: EnumFacts) => boolean
  readonly ownsComposite: (item: CompositeFacts) => boolean
  readonly ownsUnion: (item: UnionFacts) => boolean
  readonly ownsInterface: (name: string) => boolean
  /** Whether the interface has the types of its collection. */
  readonly ownsCollection: (name: string) => boolean
  /** Which type bears a name. */
  readonly find: (name: string) => EntityPart | ValuePart | undefined
  /** Whether enums have filters for arrays of them. */
  readonly listFilters: boolean
  /** The additions of relations that bring types. */
  readonly additions: ReadonlySet<string>
  readonly table: PartTable
  /** Relations with a key that own their names, by precedence. */
  readonly exposed: readonly EntityFacts[]
  /** Relations with types of inserts only. */
  readonly insertOnly: readonly EntityFacts[]
  /** Relations without their types. */
  readonly nameless: () => readonly EntityFacts[]
}

interface EntityPart {
  readonly kind: 'entity'
  readonly entity: EntityFacts
  readonly part: NamePart
}

interface Counted {
  /** Of each relation of the manifest, whether the role may read it. */
  readonly readable: readonly boolean[]
  /** Relations with INSERT but without SELECT. */
  readonly insertOnly: readonly EntityFacts[]
}

type ValuePart = EnumPart | CompositePart | UnionPart | InterfacePart | CollectionPart

interface InterfacePart {
  readonly kind: 'interface'
}

interface CollectionPart {
  readonly kind: 'collection'
  readonly interface: string
  readonly part: InterfaceTypeName
}

/** The type names of an interface's collection. */
const collectionParts = ['connection', 'edge', 'filter', 'orderBy'] as const satisfies readonly NamePart[]

export type InterfaceTypeName = (typeof collectionParts)[number]

interface UnionPart {
  readonly kind: 'union'
  readonly entity: EntityFacts
  readonly union: UnionFacts
}

interface CompositePart {
  readonly kind: 'composite' | 'composite-filter'
  readonly composite: CompositeFacts
}

interface EnumPart {
  readonly kind: 'enum' | 'enum-filter' | 'enum-list-filter'
  readonly enum: EnumFacts
}

/**
 * The part of the names that is equal for every role, and takes most of the time: with a memo it can be computed in
 * advance, yielding in between.
 */
export function* namesForAll(manifest: Manifest, table: PartTable, memo: Memo) {
  const reserved = reservedIn(manifest, table, memo)
  const namings = yield* memo.map(readNaming, yield* memo.map(namingText, manifest.entities, table), table)
  yield
  const tables = tablesOf({ rooted: yield* memo.groups(rootsOf, namings) })
  yield
  const standings = yield* memo.each(standingOf, namings, tables, reserved.bases)
  return { reserved, standings, additions: memo.one(additionsIn, yield* memo.map(additionsOf, namings)) }
}

const baseName = ({ name }: EntityFacts): string => name

/** The slow part of createNames, in advance with a memo, yielding in between. Same arguments. */
export function* namesAhead(
  manifest: Manifest,
  readable: readonly boolean[],
  table: PartTable,
  { shared, own }: RoleMemory,
): Steps<void> {
  const { standings } = yield* namesForAll(manifest, table, shared)
  yield
  const alone = standingSo('alone', manifest.entities, standings, readable)
  yield
  own.table(baseName, alone)
  yield
  // Most relations have uncontested names.
  yield* own.map(isKeyed, alone)
}

const keyedOf = (entities: readonly EntityFacts[], keyed: readonly boolean[]): readonly EntityFacts[] =>
  entities.filter((_, place) => keyed[place])

/** Relations with their names, in order. */
const ownersAmong = (
  entities: readonly EntityFacts[],
  alone: readonly EntityFacts[],
  contested: ReadonlyMap<string, EntityFacts>,
): readonly EntityFacts[] => {
  if (contested.size === 0) return alone
  const owners = new Set([...alone, ...contested.values()])
  return entities.filter((entity) => owners.has(entity))
}

/**
 * @param counted the relations that count
 * @param memory keeps names that another manifest did not change
 */
export function createNames(
  manifest: Manifest,
  { readable, insertOnly }: Counted,
  table: PartTable,
  { shared, own }: RoleMemory = withoutMemories,
): Names {
  const { entities } = manifest
  const others = new Map<string, ValuePart | EntityPart>()
  const { reserved, standings, additions } = atOnce(namesForAll(manifest, table, shared))
  // Most names are uncontested; only the contested ones are processed in order.
  const alone = standingSo('alone', entities, standings, readable)
  const aloneByName = own.table(baseName, alone)
  const contested = claimContested(
    standingSo('contested', entities, standings, readable),
    aloneByName,
    table,
    additions,
  )
  const claims: Claims = {
    table,
    used: partsWith(table, additions),
    get: (name) => contested.get(name) ?? aloneByName.get(name),
  }
  const owners = ownersAmong(entities, alone, contested)

  const isFreeOfRelations = (name: string): boolean =>
    isSpellable(name) && !reserved.names.has(name) && findPart(claims, name) === undefined
  const isFreeOfOthers = (name: string): boolean => !others.has(name) && isFreeOfRelations(name)
  const claimOthers = (types: readonly (readonly [name: string, type: ValuePart | EntityPart])[]): boolean => {
    const isFree = types.every(([name]) => isFreeOfOthers(name))
    for (const [name, type] of isFree ? types : []) others.set(name, type)
    return isFree
  }
  const listFilters = table.enumLists.some((name) => additions.has(name))
  for (const item of manifest.enums) {
    if (item.values.length > 0) claimOthers(enumTypes(item, listFilters))
  }
  for (const item of manifest.composites ?? []) if (item.fields.length > 0) claimOthers(compositeTypes(item))
  const owns = (entity: EntityFacts): boolean => claims.get(entity.name) === entity
  for (const entity of manifest.unions === true ? manifest.entities.filter(owns) : [])
    for (const union of entity.unions ?? []) claimOthers([[union.type, { kind: 'union', entity, union }]])
  for (const entity of manifest.interfaces === true ? manifest.entities.filter(owns) : [])
    for (const name of entity.interfaces ?? []) claimOthers([[name, { kind: 'interface' }]])
  const ownsInterface = (name: string): boolean => others.get(name)?.kind === 'interface'
  for (const entity of manifest.interfaces === true ? manifest.entities.filter(owns) : [])
    for (const name of (entity.collections ?? []).filter(ownsInterface)) claimOthers(collectionTypes(name))
  const inserted = insertOnly.filter(
    (entity) => isKeyed(entity) && isFreeOfRelations(entity.name) && claimOthers(insertTypes(entity)),
  )

  return {
    owns,
    ownsEnum: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'enum' in found && found.enum === item
    },
    ownsComposite: (item) => {
      const found = others.get(item.name)
      return found !== undefined && 'composite' in found && found.composite === item
    },
    ownsUnion: (item) => {
      const found = others.get(item.type)
      return found !== undefined && 'union' in found && found.union === item
    },
    ownsInterface,
    ownsCollection: (name) => collectionTypes(name).every(([type]) => others.get(type)?.kind === 'collection'),
    listFilters,
    additions,
    table,
    exposed: keyedOf(owners, atOnce(own.map(isKeyed, owners))),
    insertOnly: inserted,
    nameless: () => withoutThese(entities, owners),
    find: (name) => {
      const found = findPart(claims, name)
      return found === undefined ? others.get(name) : { kind: 'entity', ...found }
    },
  }
}

const collectionTypes = (name: string): readonly (readonly [name: string, type: CollectionPart])[] =>
  collectionParts.map((part) => [name + parts[part], { kind: 'collection', interface: name, part }])

const insertTypes = (entity: EntityFacts): readonly (readonly [name: string, type: EntityPart])[] =>
  (['insertInput', 'insertResponse'] as const).map((part) => [
    entity.name + parts[part],
    { kind: 'entity', entity, part },
  ])

const compositeTypes = (item: CompositeFacts): readonly (readonly [name: string, type: CompositePart])[] => [
  [item.name, { kind: 'composite', composite: item }],
  [`${item.name}Filter`, { kind: 'composite-filter', composite: item }],
]

const enumTypes = (item: EnumFacts, listFilters: boolean): readonly (readonly [name: string, type: EnumPart])[] => [
  [item.name, { kind: 'enum', enum: item }],
  [`${item.name}Filter`, { kind: 'enum-filter', enum: item }],
  ...(listFilters ? [[`${item.name}ListFilter`, { kind: 'enum-list-filter', enum: item }] as const] : []),
]

/** Which of the relations with equal names gets it (spec/graphql.md 2.4): the first by precedence. */

/** The facts of a relation that decide names. */
interface Naming {
  readonly name: string
  readonly keyed: boolean
  readonly additions: readonly string[]
  /** The name, and those of which it would be a part. If two names conflict, one is among the other's. */
  readonly roots: readonly string[]
}

/** As text, equal for equal facts. */
function namingText(entity: EntityFacts, { additions }: PartTable): string {
  const facts: object = entity
  const naming: Omit<Naming, 'roots'> = {
    name: entity.name,
    keyed: isKeyed(entity),
    additions: additions.filter((addition) => (facts as Readonly<Record<string, unknown>>)[addition] !== undefined),
  }
  return JSON.stringify(naming)
}

function readNaming(text: string, table: PartTable): Naming {
  const naming = JSON.parse(text) as Omit<Naming, 'roots'>
  return { ...naming, roots: rootsOfName(table, naming.name) }
}

/** Whether a relation can have the name, and whether another relation's name decides that. */
type Standing = 'alone' | 'contested' | 'impossible'

const validName = /^[_A-Za-z][_0-9A-Za-z]*$/

/** Whether it is a valid GraphQL name that introspection does not reserve (October 2021, 2.1.9). */
const isSpellable = (name: string): boolean => validName.test(name) && !name.startsWith('__')

const rootsOfName = ({ endings, anyEnding }: PartTable, name: string): readonly string[] =>
  anyEnding.test(name)
    ? [name, ...endings.flatMap((ending) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : []))]
    : [name]

const rootsOf = ({ roots }: Naming): readonly string[] => roots

interface NameTables extends Tables {
  /** By root: the names that have it. */
  readonly rooted: Lookup<readonly Naming[]>
}

/** @param reserved names that no relation can have */
function standingOf(naming: Naming, { rooted }: NameTables, reserved: ReadonlySet<string>): Standing {
  if (!isSpellable(naming.name) || reserved.has(naming.name)) return 'impossible'
  const isContested = rootsOf(naming).some((root) => {
    const group = rooted.get(root) ?? []
    return group.length > 1 && group.some(({ name }) => name === root)
  })
  return isContested ? 'contested' : 'alone'
}

const none: readonly string[] = []

/** The same list for all without additions, which are most. */
const additionsOf = ({ additions }: Naming): readonly string[] => (additions.length === 0 ? none : additions)

const additionsIn = (lists: readonly (readonly string[])[]): ReadonlySet<string> => new Set([...new Set(lists)].flat())

/** Which relations own the types of their base names. */
interface Claims extends Owners {
  readonly table: PartTable
  readonly used: readonly NamePart[]
}

/** Relations by their base names. */
type Owners = Lookup<EntityFacts>

/** The relation and the part that a name denotes, e.g. `PostEdge` -> Post, edge. */
function findPart(claims: Claims, name: string): { readonly entity: EntityFacts; readonly part: NamePart } | undefined {
  const own = claims.get(name)
  if (own !== undefined) return { entity: own, part: 'row' }
  const { anyPart, suffixes } = claims.table
  if (!anyPart.test(name)) return undefined
  for (const part of claims.used) {
    if (!name.endsWith(suffixes[part])) continue
    const entity = claims.get(name.slice(0, name.length - suffixes[part].length))
    if (entity !== undefined) return { entity, part }
  }
  return undefined
}

/**
 * The readable relations of a standing.
 * @param readable by relation
 */
const standingSo = (
  wanted: Standing,
  entities: readonly EntityFacts[],
  standings: readonly Standing[],
  readable: readonly boolean[],
): readonly EntityFacts[] => entities.filter((_, place) => standings[place] === wanted && readable[place] === true)

/** The relations without those that follow in the same order. */
function withoutThese(entities: readonly EntityFacts[], those: readonly EntityFacts[]): readonly EntityFacts[] {
  let next = 0
  return entities.filter((entity) => {
    const isNext = entity === those[next]
    if (isNext) next += 1
    return !isNext
  })
}

/**
 * Assigns the contested names, each to the first claimant; relations with a key come first.
 *
 * @param alone the relations whose names are not contested
 */
function claimContested(
  contested: readonly EntityFacts[],
  alone: Owners,
  table: PartTable,
  present: ReadonlySet<string>,
): ReadonlyMap<string, EntityFacts> {
  const found = new Map<string, EntityFacts>()
  const claims: Claims = { table, used: partsWith(table, present), get: (name) => found.get(name) ?? alone.get(name) }
  const infixes = infixesOf(table.suffixes, claims.used)
  /** Names one of whose parts would be the name of a claimed relation. */
  const blocked = new Set<string>()
  const isClaimed = (name: string): boolean => claims.get(name) !== undefined
  /** Whether a part of one would be a part of the other: the filter of PostRelation is the relation filter of Post. */
  const sharesPart = (base: string): boolean =>
    infixes.some(
      (infix) =>
        isClaimed(base + infix) || (base.endsWith(infix) && isClaimed(base.slice(0, base.length - infix.length))),
    )
  const isFree = (base: string): boolean =>
    !blocked.has(base) && findPart(claims, base) === undefined && !sharesPart(base)
  for (const withKey of [true, false])
    for (const entity of contested) {
      if (isKeyed(entity) !== withKey || !isFree(entity.name)) continue
      found.set(entity.name, entity)
      for (const base of basesOf(table, entity.name, claims.used)) blocked.add(base)
    }
  return found
}

const isKeyed = ({ key }: EntityFacts): boolean => key.length > 0
