import { bySchemaAndName, compareBytes } from '../../../runtime/lib/text.ts'
import type { LiveFacts, LiveReason, LiveRelation, OwnRows } from '../../../runtime/contract/live.ts'
import { withPredefined } from '../../catalog/privileges.ts'
import { type Oid, nameFunction, nameRelation } from '../../catalog/catalog.ts'
import { type Fault, systemFault } from './mentions.ts'
import type { Closure, KnownFunction, KnownRelation, LiveComments } from './read-relations.ts'

/**
 * Decides which objects can be watched (spec/graphql.md 16.1), on a graph of places that read each other:
 *
 * ['relation', view] ─> ['relation', table] ─> ['rows', table] <─> ['rows', parent or child]
 *     └─> ['function', f] ─> relations and functions that its body and its operators name
 *
 *   1. reachedFrom(start)                    nodes: reasons against watching (`refused`), and tables
 *   2. a reason, or a table that is neither
 *      reported nor awaited                    facts: { refused }
 *   3. otherwise                             facts: { reads, awaited, own }
 */

/** The sentences of spec/graphql.md 16.1. */
const sentences = {
  off: (x: string) => `${x} is not live.`,
  unwatched: (x: string) => `${x} is not live: its changes are not reported.`,
  awaited: (x: string) => `${x} is not live yet: others hold locks on it. Try again.`,
  rowless: (x: string) => `${x} cannot be watched: its changes fire no triggers.`,
  subscribed: (x: string) => `${x} cannot be watched: logical replication fires no triggers.`,
  distributed: (x: string) => `${x} cannot be watched: its rows lie on other servers.`,
  clock: (x: string) => `${x} cannot be watched: it depends on the clock.`,
  volatile: (x: string) => `${x} cannot be watched: it is volatile.`,
  unknown: (x: string) => `${x} cannot be watched: what it reads is not known.`,
} as const

/** A volatile setting of the owner makes its users unwatchable. */
const settingSentence = (x: string, name = ''): string =>
  `${x} cannot be watched: it depends on ${name === '' ? 'a setting' : `the setting ${name}`}.`

type Sentence = (typeof sentences)[keyof typeof sentences]

type Known = KnownRelation | KnownFunction

const because = (object: Known, sentence: Sentence): LiveReason => ({
  sentence: sentence(legibleName(object)),
  usage: withPredefined(object.usage, 'USAGE', 'schema'),
  rights: 'volatility' in object ? object.rights : withPredefined(object.rights, 'SELECT', 'relation'),
})

const reasonOf = (object: Known, fault: Fault): LiveReason =>
  fault.kind === 'setting'
    ? { ...because(object, (x) => settingSentence(x, fault.name)), forCallers: settingSentence(legibleName(object)) }
    : because(object, sentences[fault.kind])

/** A read: the rows of a table and of its children, a relation with its dependencies, a call of a function. */
type Place = readonly [kind: 'rows' | 'relation' | 'function', oid: Oid]

/** The consequences of reading a place. */
interface Node {
  readonly refused: readonly LiveReason[]
  readonly table: KnownRelation | null
  readonly to: readonly Place[]
}

export interface LiveVerdict {
  readonly facts: LiveFacts
  /** Tables whose changes must be reported, if nothing else prevents watching. */
  readonly wanted: readonly LiveRelation[]
  /** Those without reports. */
  readonly unwatched: readonly KnownRelation[]
}

/** The facts that decide what can be watched. */
export interface Judge {
  readonly closure: Closure
  readonly comments: LiveComments
  /** Relations whose rows lie on other servers. */
  readonly distributed: ReadonlySet<Oid>
  /** Relations whose trees get their triggers later. */
  readonly awaited: readonly LiveRelation[]
  /** The reached nodes, by kind and OID. */
  readonly nodes: Map<string, Node>
}

export function judgeRelation(judge: Judge, oid: Oid): LiveVerdict {
  const known = knownRelation(judge, oid)
  if (!isLive(judge, known)) return { facts: { refused: [because(known, sentences.off)] }, wanted: [], unwatched: [] }
  const found = judged(judge, ['relation', oid])
  const own = 'reads' in found.facts && isTable(known) ? ownOf(judge, known) : null
  return own === null ? found : { ...found, facts: { ...found.facts, own } }
}

export const judgeFunction = (judge: Judge, oid: Oid): LiveVerdict => judged(judge, ['function', oid])

function judged(judge: Judge, start: Place): LiveVerdict {
  const nodes = reachedFrom(judge, [start])
  const refused = nodes.flatMap((node) => node.refused)
  const tables = nodes.flatMap(({ table }) => table ?? [])
  const unwatched = refused.length > 0 ? [] : tables.filter(({ reported }) => !reported)
  const never = unwatched.filter((table) => !isAwaited(judge, table))
  const all = [...refused, ...never.map((table) => because(table, sentences.unwatched))]
  const roots = tables.filter(isTop).map(nameOnly).sort(bySchemaAndName)
  const wanted = refused.length > 0 ? [] : roots
  if (all.length > 0) return { facts: { refused: reasonsInOrder(all) }, wanted, unwatched }
  const later = reasonsInOrder(unwatched.map((table) => because(table, sentences.awaited)))
  return { facts: { reads: roots, ...(later.length > 0 && { awaited: later }) }, wanted, unwatched }
}

/** Absent for a table whose policies read it: other rows decide, too. */
function ownOf(judge: Judge, known: KnownRelation): OwnRows | null {
  const rows: Place = ['rows', known.oid]
  const asked = reachedFrom(judge, dependsOn(judge, known))
  const [root, ...others] = reachedFrom(judge, [rows]).flatMap(({ table }) =>
    table !== null && isTop(table) ? [table] : [],
  )
  if (root === undefined || others.length > 0 || asked.includes(nodeAt(judge, rows))) return null
  return { relation: nameOnly(root), pins: known.pins.filter((column) => root.pins.includes(column)) }
}

/** These nodes and everything reachable from them. */
function reachedFrom(judge: Judge, places: readonly Place[]): readonly Node[] {
  const seen = new Set(places.map((place) => nodeAt(judge, place)))
  // A Set's iterator also visits items that are added during the iteration.
  for (const { to } of seen) for (const place of to) seen.add(nodeAt(judge, place))
  return [...seen]
}

function nodeAt(judge: Judge, [kind, oid]: Place): Node {
  const key = `${kind} ${oid}`
  const node = judge.nodes.get(key) ?? makers[kind](judge, oid)
  judge.nodes.set(key, node)
  return node
}

const makers: Readonly<Record<Place[0], (judge: Judge, oid: Oid) => Node>> = {
  /** A statement on a table changes rows of its parents and children. */
  rows: (judge, oid) => {
    const relation = knownRelation(judge, oid)
    return {
      refused: rowFaults(judge, relation).map((sentence) => because(relation, sentence)),
      table: isTable(relation) ? relation : null,
      to: [...relation.parents, ...relation.children].map((other) => ['rows', other]),
    }
  },
  relation: (judge, oid) => {
    const known = knownRelation(judge, oid)
    return { refused: faultsOf(judge, known), table: null, to: [['rows', oid], ...dependsOn(judge, known)] }
  },
  function: (judge, oid) => {
    const known = judge.closure.functions.get(oid)
    if (known === undefined) throw new TypeError(`function ${oid} was not read`)
    const isVolatile = known.volatility === 'v' && known.kind !== 'a' && systemFaults(known).length === 0
    // A volatile function needs no further reasons; a function of Postgres is attributed to its callers.
    const refused = isVolatile ? [because(known, sentences.volatile)] : known.system ? [] : faultsOf(judge, known)
    return { refused, table: null, to: dependsOn(judge, known) }
  },
}

function knownRelation({ closure }: Judge, oid: Oid): KnownRelation {
  const known = closure.relations.get(oid)
  if (known === undefined) throw new TypeError(`relation ${oid} was not read`)
  return known
}

function rowFaults(judge: Judge, relation: KnownRelation): readonly Sentence[] {
  if (relation.system || !isOrdinary(relation)) return [sentences.rowless]
  if (!isLive(judge, relation)) return [sentences.off]
  if (judge.distributed.has(relation.oid)) return [sentences.distributed]
  return relation.subscribed ? [sentences.subscribed] : []
}

function isLive(judge: Judge, { comment, schemaComment, parents }: KnownRelation): boolean {
  const { comments, closure } = judge
  const own = comments.isLive('relation', comment)
  if (own !== null) return own
  const [parent] = parents.flatMap((oid) => closure.relations.get(oid) ?? [])
  return parent === undefined ? (comments.isLive('schema', schemaComment) ?? false) : isLive(judge, parent)
}

const dependsOn = ({ closure }: Judge, { depends, ...object }: Known): readonly Place[] => [
  ...depends.relations.map((oid): Place => ['relation', oid]),
  ...[
    ...depends.functions,
    ...depends.operators.flatMap((oid) => closure.operators.get(oid) ?? []),
    ...('parts' in object ? object.parts : []),
  ].map((oid): Place => ['function', oid]),
]

/** Its own faults, and those of the functions of Postgres that it calls. */
function faultsOf({ closure: { functions } }: Judge, object: Known): readonly LiveReason[] {
  const calledBy = ({ depends }: Known): readonly KnownFunction[] =>
    depends.functions.flatMap((oid) => functions.get(oid) ?? [])
  const ofSystem = calledBy(object)
    .filter(({ system }) => system)
    .flatMap((called) => [called, ...calledBy(called)].flatMap(systemFaults))
  return [...object.depends.faults, ...ofSystem].map((fault) => reasonOf(object, fault))
}

function systemFaults({ system, schema, name, depends }: KnownFunction): readonly Fault[] {
  const kind = system && schema === 'pg_catalog' ? systemFault(name) : null
  return [...(kind === null ? [] : [{ kind }]), ...(system ? depends.faults : [])]
}

const isAwaited = (judge: Judge, { schema, name, parents }: KnownRelation): boolean =>
  judge.awaited.some((one) => one.schema === schema && one.name === name) ||
  parents.some((oid) => {
    const parent = judge.closure.relations.get(oid)
    return parent !== undefined && isAwaited(judge, parent)
  })

const isTop = ({ parents }: KnownRelation): boolean => parents.length === 0

const isTable = ({ kind }: KnownRelation): boolean => kind === 'r' || kind === 'p'

/** Materialized views, foreign tables, sequences and tables of Postgres have no reports. */
const isOrdinary = (relation: KnownRelation): boolean => isTable(relation) || relation.kind === 'v'

const legibleName = (object: Known): string => ('volatility' in object ? nameCalled(object) : nameKnown(object))

const nameKnown = ({ schema, name, kind }: KnownRelation): string =>
  kind === 'S' || kind === 't'
    ? nameRelation({ schema, name, kind: 'r' }).replace(/^table/, kind === 'S' ? 'sequence' : 'table')
    : nameRelation({ schema, name, kind })

const nameCalled = ({ schema, name, types }: KnownFunction): string =>
  nameFunction({ schema, name, args: types.map((typeText) => ({ typeText })) })

const reasonsInOrder = (reasons: readonly LiveReason[]): readonly LiveReason[] =>
  [...new Map(reasons.map((reason) => [reason.sentence, reason])).values()].sort((a, b) =>
    compareBytes(a.sentence, b.sentence),
  )

const nameOnly = ({ schema, name }: KnownRelation): LiveRelation => ({ schema, name })
