import type { LiveFacts, LiveReason, LiveRelation } from '../../contract/live.ts'
import type { EntityFacts, FunctionFacts, ObjectId } from '../../contract/manifest.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { Refusal, type ErrorEntry } from '../protocol/failures.ts'
import { hopsOf, isConnected } from './joins.ts'
import { bothOf, demandOf, joinedPins, keyDemand } from './pins.ts'
import type {
  CallResult,
  Collection,
  ConnectionMember,
  DirectJoin,
  Filter,
  Join,
  OrderKey,
  Root,
  Row,
  RowMember,
  ToOne,
} from './plan-nodes.ts'
import type { Demand, WatchedRead } from './watched-reads.ts'

interface Place {
  readonly entity: EntityFacts
  /** Index among the reads; null: the rows come from a function. */
  readonly read: number | null
}

type Path = readonly string[]

type Watching = Pick<RoleVisibility, 'manifest' | 'can' | 'additions'>

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    readonly keysRead?: (member: ConnectionMember) => readonly OrderKey[]
  }
}

/** The results so far. */
interface Found {
  readonly visible: Watching
  readonly reads: WatchedRead[]
  /** By relation or function. */
  readonly refused: Map<ObjectId, ErrorEntry>
  /** The reads that can be watched later. */
  readonly awaited: Map<ObjectId, ErrorEntry>
}

/**
 * The reads of a subscription's roots, one per place.
 * @throws Refusal if a part of it cannot be watched, or not yet (spec/graphql.md 16.1)
 */
export function readsOf(visible: Watching, roots: readonly Root[]): readonly WatchedRead[] {
  const found: Found = { visible, reads: [], refused: new Map(), awaited: new Map() }
  for (const root of roots) readRoot(found, root)
  if (found.refused.size > 0) throw new Refusal('NOT_LIVE', [...found.refused.values()])
  if (found.awaited.size > 0) throw new Refusal('DATABASE_UNAVAILABLE', [...found.awaited.values()])
  return found.reads
}

function readRoot(found: Found, root: Root): void {
  const path = [root.key]
  if (root.kind === 'constant') return
  if (root.kind === 'collection') return readCollection(found, path, root.collection, null)
  if (root.kind === 'collections') return root.of.forEach((collection) => readCollection(found, path, collection, null))
  if (root.kind === 'by-key') {
    const { entity } = root.row
    const demand = keyDemand(entity, root.by?.columns ?? entity.key, root.values)
    return readRow(found, path, root.row, add(found, path, entity, demand, null))
  }
  if (!('call' in root)) throw new Error('a subscription changes nothing')
  const fn = found.visible.manifest.functions.find(({ id }) => id === root.call)
  readCalled(found, path, root.call, fn)
  readResult(found, path, root)
}

interface Joined<Of extends Join> {
  readonly from: Place
  readonly join: Of
}

function add(
  found: Found,
  path: Path,
  entity: EntityFacts,
  demand: Demand | null,
  joined: Joined<DirectJoin> | null,
): Place {
  const { live } = entity
  const reads = accept(found, path, entity.id, live)
  const own = live !== undefined && 'reads' in live ? (live.own?.relation ?? null) : null
  const from = joined?.from.read ?? null
  found.reads.push({
    any: own === null ? reads : reads.filter(({ schema, name }) => schema !== own.schema || name !== own.name),
    own,
    demand,
    from:
      joined === null || from === null
        ? null
        : { read: from, pairs: joinedPins(joined.from.entity, entity, joined.join) },
  })
  return { entity, read: found.reads.length - 1 }
}

/** Adds the intermediate relations, too. */
function addJoined(
  found: Found,
  path: Path,
  entity: EntityFacts,
  demand: Demand | null,
  { from, join }: Joined<Join>,
): { readonly there: Place; readonly between: Place | null } {
  const hops = hopsOf(join, entity)
  const places = hops.reduce<readonly Place[]>((before, hop, index) => {
    const own = demandOf(hop.entity, hop.join.filter ?? null)
    const asked = index === hops.length - 1 ? bothOf(demand, own) : own
    return [...before, add(found, path, hop.entity, asked, { from: before.at(-1) ?? from, join: hop.join })]
  }, [])
  const [there, between] = places.toReversed()
  if (there === undefined) throw new Error(`no join leads to ${entity.id}`)
  return { there, between: isConnected(join) ? (between ?? null) : null }
}

/** The watched relations of a read; empty if that is refused, which is recorded once. */
function accept(found: Found, path: Path, id: ObjectId, live: LiveFacts | undefined): readonly LiveRelation[] {
  const isWatched = live !== undefined && 'reads' in live
  const reasons = live === undefined ? [] : 'reads' in live ? live.awaited : live.refused
  const code = isWatched ? 'DATABASE_UNAVAILABLE' : 'NOT_LIVE'
  const noted = isWatched ? found.awaited : found.refused
  if (reasons !== undefined && !noted.has(id))
    noted.set(id, { message: messageOf(found.visible, reasons, unnamed[code]), path, extensions: { code } })
  return isWatched ? live.reads : []
}

/** Replaces the sentences about objects that the caller may not use (spec/graphql.md 16.1). */
const unnamed = {
  NOT_LIVE: 'The field reads something that cannot be watched.',
  DATABASE_UNAVAILABLE: 'The field reads something that is not live yet. Try again.',
} as const

function messageOf({ can }: Watching, reasons: readonly LiveReason[], otherwise: string): string {
  if (reasons.length === 0) return 'Nothing is live.'
  const sentences = reasons.map(({ sentence, forCallers, usage, rights }) =>
    can(usage) && can(rights) ? (forCallers ?? sentence) : null,
  )
  const named = sentences.filter((sentence) => sentence !== null)
  return [...new Set(named), ...(named.length < sentences.length ? [otherwise] : [])].join(' ')
}

function readCollection(found: Found, path: Path, collection: Collection, joined: Joined<Join> | null): void {
  const { entity, filter } = collection
  const demand = demandOf(entity, filter)
  if (joined === null) return readPage(found, path, collection, add(found, path, entity, demand, null), null)
  const { there, between } = addJoined(found, path, entity, demand, joined)
  readPage(found, path, collection, there, between)
}

/**
 * The reads within the rows of a collection of any origin.
 *
 * @param between the rows through which they were reached
 */
function readPage(
  found: Found,
  path: Path,
  { filter, order, members }: Collection,
  place: Place,
  between: Place | null,
): void {
  if (filter !== null) readFilter(found, path, filter, place)
  for (const { column } of order) readOrder(found, path, column, place)
  for (const member of members) {
    for (const { keysRead } of found.visible.additions)
      for (const key of keysRead?.(member) ?? []) readOrder(found, path, key, place)
    if (member.kind !== 'edges') continue
    for (const edge of member.members)
      if (edge.kind === 'node') readRow(found, [...path, member.key, edge.key], edge.row, place)
      else if (edge.kind === 'between' && between?.entity === edge.row.entity)
        readRow(found, [...path, member.key, edge.key], edge.row, between)
  }
}

function readFilter(found: Found, path: Path, filter: Filter, place: Place): void {
  switch (filter.kind) {
    case 'all':
    case 'any':
      for (const one of filter.of) readFilter(found, path, one, place)
      return
    case 'not':
      return readFilter(found, path, filter.of, place)
    case 'related': {
      // Rows that do not meet the condition matter to `every`, too.
      const demand = filter.quantifier === 'every' ? null : demandOf(filter.entity, filter.of)
      const { there } = addJoined(found, path, filter.entity, demand, { from: place, join: filter.join })
      if (filter.of !== null) readFilter(found, path, filter.of, there)
      return
    }
    case 'compare':
    case 'presence':
    case 'spatial':
    case 'form':
    case 'elements':
      if ('computed' in filter) readComputed(found, path, place, filter.computed)
      return
    case 'compare-column':
    case 'key':
    case 'meant':
      return
  }
}

function readOrder(found: Found, path: Path, key: OrderKey, place: Place): void {
  if (typeof key === 'string' || key.kind === 'rank' || key.kind === 'type') return
  const { there } = addJoined(found, path, key.entity, null, { from: place, join: key.join })
  if (key.kind === 'one') readOrder(found, path, key.of, there)
}

function readRow(found: Found, path: Path, row: Row, place: Place): void {
  for (const member of row.members) readMember(found, [...path, member.key], member, place)
}

function readMember(found: Found, path: Path, member: RowMember, place: Place): void {
  if (member.kind === 'one') return readOne(found, path, member, place)
  if (member.kind === 'union') return member.of.forEach((one) => readOne(found, path, one, place))
  if (member.kind === 'many') return readCollection(found, path, member.collection, { from: place, join: member.join })
  if (!('function' in member)) return
  readComputed(found, path, place, member.function)
  readResult(found, path, member)
}

const readOne = (found: Found, path: Path, { row, join }: ToOne, from: Place): void =>
  readRow(found, path, row, addJoined(found, path, row.entity, null, { from, join }).there)

const readComputed = (found: Found, path: Path, { entity }: Place, id: ObjectId): void =>
  readCalled(
    found,
    path,
    id,
    entity.computed.find((fn) => fn.id === id),
  )

/** For any arguments: the rows that a function reads of a relation are unknown. */
function readCalled(found: Found, path: Path, id: ObjectId, fn: FunctionFacts | undefined): void {
  const any = accept(found, path, id, fn?.live)
  found.reads.push({ any, own: null, demand: null, from: null })
}

/** The rows of a function are in its own reads; members related to them read relations. */
function readResult(found: Found, path: Path, result: CallResult<'call' | 'computed'>): void {
  if ('row' in result) readRow(found, path, result.row, { entity: result.row.entity, read: null })
  if ('collection' in result)
    readPage(found, path, result.collection, { entity: result.collection.entity, read: null }, null)
}
