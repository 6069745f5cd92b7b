import { createNames, namesAhead, type Names } from '../../runtime/contract/type-names.ts'
import type {
  Diagnostic,
  EntityFacts,
  EnumFacts,
  FunctionFacts,
  Manifest,
  RelationFacts,
} from '../../runtime/contract/manifest.ts'
import { partTable, rootField, type PartTable, type RootField } from '../../runtime/contract/name-parts.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameType, nameObject } from '../catalog/catalog.ts'
import type { ModelAddition } from './additions.ts'
import type { FunctionNames } from './functions.ts'

/**
 * Reports names that two objects claim (spec/graphql.md 2.4, decision 8). Nothing is resolved here: which object gets
 * the name depends on what a role may see, and the engine decides it by role. The diagnostics are for a role that sees
 * everything.
 */
export function* collisionDiagnostics(
  memo: Memo,
  manifest: Manifest,
  additions: readonly ModelAddition[],
  nameOf: FunctionNames,
): Steps<readonly Diagnostic[]> {
  const lost = yield* memo.map(lostFields, manifest.entities)
  return [
    ...(yield* typeCollisions(memo, manifest, memo.one(partTable, additions))),
    ...lost.flatMap((fields) => lostFieldDiagnostics(fields, nameOf)),
    ...(yield* rootFieldCollisions(memo, manifest, additions, nameOf)),
  ]
}

const counts = (): boolean => true

function* typeCollisions(memo: Memo, manifest: Manifest, table: PartTable): Steps<readonly Diagnostic[]> {
  const memory = { shared: memo, own: memo }
  const readable = yield* memo.map(counts, manifest.entities)
  yield* namesAhead(manifest, readable, table, memory)
  const names = createNames(manifest, { readable, insertOnly: [] }, table, memory)
  return [
    ...names.nameless().map((entity) => takenEntityName(names, entity)),
    ...manifest.enums.filter((item) => !names.ownsEnum(item)).map((item) => takenEnumName(names, item)),
    ...(manifest.composites ?? [])
      .filter((item) => item.fields.length > 0 && !names.ownsComposite(item))
      .map((item) => takenEnumName(names, item)),
    ...(manifest.interfaces === true ? manifest.entities.flatMap((entity) => takenInterfaces(names, entity)) : []),
    ...(manifest.interfaces === true ? manifest.entities.flatMap((entity) => takenCollections(names, entity)) : []),
    ...(manifest.unions === true ? manifest.entities.flatMap((entity) => takenUnionNames(names, entity)) : []),
  ]
}

const entityLabel = (entity: EntityFacts): string => nameObject(entity.kind, entity.schema, entity.relation)

function ownerOf(names: Names, name: string): string {
  const found = names.find(name)
  if (found === undefined) return 'a type that is always there, or that another object brings'
  if (found.kind === 'interface') return 'an interface'
  if (found.kind === 'collection') return 'the collection of an interface'
  if (found.kind === 'entity' || found.kind === 'union') return entityLabel(found.entity)
  const { schema, name: type } = 'enum' in found ? found.enum : found.composite
  return nameType(schema, type)
}

const takenEntityName = (names: Names, entity: EntityFacts): Diagnostic =>
  diagnose('name-taken', entityLabel(entity), { name: entity.name, owner: ownerOf(names, entity.name) })

const takenEnumName = (names: Names, item: Pick<EnumFacts, 'schema' | 'name'>): Diagnostic =>
  diagnose('name-taken', nameType(item.schema, item.name), { name: item.name, owner: ownerOf(names, item.name) })

const takenUnionNames = (names: Names, entity: EntityFacts): readonly Diagnostic[] =>
  (entity.unions ?? [])
    .filter((union) => !names.ownsUnion(union))
    .map(({ field, type }) =>
      diagnose('union-unusable', entityLabel(entity), {
        name: field,
        reason: `the type name ${JSON.stringify(type)} belongs to ${ownerOf(names, type)}`,
      }),
    )

const takenInterfaces = (names: Names, entity: EntityFacts): readonly Diagnostic[] =>
  (entity.interfaces ?? [])
    .filter((name) => !names.ownsInterface(name))
    .map((name) => diagnose('interface-unusable', entityLabel(entity), { name, owner: ownerOf(names, name) }))

const takenCollections = (names: Names, entity: EntityFacts): readonly Diagnostic[] =>
  (entity.collections ?? [])
    .filter((name) => names.ownsInterface(name) && !names.ownsCollection(name))
    .map((name) => diagnose('collection-unusable', entityLabel(entity), { name }))

interface Claim {
  readonly field: string
  readonly object: (nameOf: FunctionNames) => string
}

/** A claim of a field that another object has. */
interface Lost {
  readonly type: string
  readonly claim: Claim
  readonly winner: Claim
}

/** A foreign key has no name on either side, so it is named by the tables and columns that it joins. */
function relationLabel(entity: EntityFacts, relation: RelationFacts): string {
  const there = relation.direction === 'forward' || relation.way !== undefined ? 'to' : 'from'
  const target = JSON.parse(relation.target) as readonly string[]
  return `relation of ${entityLabel(entity)} (${relation.local.join(', ')}) ${nameObject(there, ...target)} (${relation.foreign.join(', ')})`
}

/**
 * In one object type the last one wins, in the order columns, relations, computed fields; relations declared by
 * comments follow, the first one first, and unions come last.
 */
function lostFields(entity: EntityFacts): readonly Lost[] {
  const columnLabel = (column: string): string => nameObject('column', entity.schema, entity.relation, column)
  const claimOf = (relation: RelationFacts): Claim => ({
    field: relation.field,
    object: () => relationLabel(entity, relation),
  })
  const [direct, others] = [
    entity.relations.filter((relation) => relation.way === undefined),
    entity.relations.filter((relation) => relation.way !== undefined),
  ]
  const claims: readonly Claim[] = [
    ...entity.columns.flatMap(({ column, field }) =>
      field === null ? [] : [{ field, object: () => columnLabel(column) }],
    ),
    ...direct.map(claimOf),
    ...entity.computed.map(({ field, id }) => ({ field, object: (nameOf: FunctionNames) => nameOf(entity.id, id) })),
  ]
  const unions = (entity.unions ?? []).map(({ field }) => ({
    field,
    object: () => `relation of ${entityLabel(entity)} (union ${field})`,
  }))
  return losersOf(entity.name, [...claims.toReversed(), ...others.map(claimOf), ...unions])
}

/** The first claim of a field wins. */
function losersOf(type: string, claims: readonly Claim[]): readonly Lost[] {
  const winners = new Map<string, Claim>()
  return claims.flatMap((claim) => {
    const winner = winners.get(claim.field)
    if (winner !== undefined) return [{ type, claim, winner }]
    winners.set(claim.field, claim)
    return []
  })
}

const lostFieldDiagnostics = (lost: readonly Lost[], nameOf: FunctionNames): readonly Diagnostic[] =>
  lost.map(({ type, claim, winner }) =>
    diagnose('field-taken', claim.object(nameOf), { field: claim.field, type, winner: winner.object(nameOf) }),
  )

/** The facts of a relation that decide its root fields. */
interface Wish {
  readonly name: string
  readonly root: boolean
  readonly keyed: boolean
  readonly label: string
  /** Fields of Query that additions bring. */
  readonly added: readonly string[]
  /** The same of Mutation. */
  readonly changes: readonly string[]
  /** Names of interfaces whose collections have its rows. */
  readonly collections: readonly string[]
}

/** As text, equal for equal facts. */
const wishText = (entity: EntityFacts, additions: readonly ModelAddition[]): string =>
  JSON.stringify({
    name: entity.name,
    root: entity.root,
    keyed: entity.key.length > 0,
    label: entityLabel(entity),
    added: additions.flatMap((one) => one.queryNames?.(entity) ?? []),
    changes: additions.flatMap((one) => one.mutationNames?.(entity) ?? []),
    collections: entity.collections ?? [],
  } satisfies Wish)

const readWish = (text: string): Wish => JSON.parse(text) as Wish

/** Objects with claims on root fields. */
type Claimant = Wish | FunctionFacts

const isFunction = (claimant: Claimant): claimant is FunctionFacts => 'execute' in claimant
const isWish = (claimant: Claimant): claimant is Wish => !isFunction(claimant)

function* rootFieldCollisions(
  memo: Memo,
  manifest: Manifest,
  additions: readonly ModelAddition[],
  nameOf: FunctionNames,
): Steps<readonly Diagnostic[]> {
  const wishes = yield* memo.map(readWish, yield* memo.map(wishText, manifest.entities, additions))
  const all = memo.one(claimants, wishes, manifest.functions)
  yield
  const onQuery = memo.one(lostOnQuery, yield* memo.sharing(fieldsOfQuery, all))
  const onMutation = memo.one(lostOnMutation, yield* memo.sharing(fieldsOfMutation, all))
  return lostFieldDiagnostics([...onQuery, ...onMutation], nameOf)
}

const claimants = (wishes: readonly Wish[], functions: Manifest['functions']): readonly Claimant[] => [
  ...wishes,
  ...functions,
]

const claimedFields = (claims: readonly Claim[]): readonly string[] => claims.map(({ field }) => field)

const fieldsOfQuery = (claimant: Claimant): readonly string[] => claimedFields(queryClaims([claimant]))
const fieldsOfMutation = (claimant: Claimant): readonly string[] => claimedFields(mutationClaims([claimant]))

const lostOnQuery = (all: readonly Claimant[]): readonly Lost[] => losersOf('Query', queryClaims(all))
const lostOnMutation = (all: readonly Claimant[]): readonly Lost[] => losersOf('Mutation', mutationClaims(all))

/*
 * On a root, relations come before functions, these before look-ups and changes by unique keys, which come before
 * collections of interfaces, and earlier ones before later ones.
 */

function queryClaims(all: readonly Claimant[]): readonly Claim[] {
  const [wishes, functions] = [all.filter(isWish), all.filter(isFunction)]
  const interfaces = new Map(
    wishes.flatMap(({ collections, label }) => collections.map((name) => [name, label] as const)).toReversed(),
  )
  return [
    ...wishes.flatMap(collectionClaims),
    ...callClaims(functions, false),
    ...wishes.flatMap(addedClaims),
    ...[...interfaces].toSorted(byText).map(([name, label]) => ({
      field: rootField('collection', name),
      object: () => `${label} (collection of ${name})`,
    })),
  ]
}

const byText = ([one]: readonly [string, string], [other]: readonly [string, string]): number => (one < other ? -1 : 1)

function mutationClaims(all: readonly Claimant[]): readonly Claim[] {
  const [wishes, functions] = [all.filter(isWish), all.filter(isFunction)]
  return [...wishes.flatMap(writeClaims), ...callClaims(functions, true), ...wishes.flatMap(changeClaims)]
}

const callClaims = (functions: Manifest['functions'], volatile: boolean): readonly Claim[] =>
  functions
    .filter((fn) => fn.volatile === volatile)
    .map(({ field, id }) => ({ field, object: (nameOf: FunctionNames) => nameOf(null, id) }))

const collectionClaims = (wish: Wish): readonly Claim[] =>
  wish.root && wish.keyed ? claimAll(wish, ['collection', 'byKey']) : []

const addedClaims = ({ root, keyed, added, label }: Wish): readonly Claim[] =>
  root && keyed ? added.map((field) => ({ field, object: () => label })) : []

const writeClaims = (wish: Wish): readonly Claim[] => (wish.keyed ? claimAll(wish, ['insert', 'update', 'delete']) : [])

const changeClaims = ({ changes, label }: Wish): readonly Claim[] =>
  changes.map((field) => ({ field, object: () => label }))

const claimAll = ({ name, label }: Wish, kinds: readonly RootField[]): readonly Claim[] =>
  kinds.map((kind) => ({ field: rootField(kind, name), object: () => label }))
