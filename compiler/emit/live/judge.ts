import { compareBytes } from '../../../runtime/lib/text.ts'
import type { LiveFacts, LiveReason, LiveRelation, OwnRows } from '../../../runtime/contract/live.ts'
import { withPredefined } from '../../catalog/privileges.ts'
import type { Oid } from '../../catalog/catalog.ts'
import { readComment } from '../../comments/settings.ts'
import { nameFunction, nameRelation } from '../../catalog/diagnostics/object-name.ts'
import type { Fault } from './mentions.ts'
import type { Closure, KnownFunction, KnownRelation } from './read-relations.ts'
import { systemFault } from './system.ts'

/** The sentences of spec/graphql.md 16.1. */
const sentences = {
  off: (x: string) => `${x} is not live.`,
  untold: (x: string) => `${x} is not live: its changes are not told.`,
  awaited: (x: string) => `${x} is not live yet: others hold locks on it. Try again.`,
  rowless: (x: string) => `${x} cannot be watched: nothing tells its changes.`,
  subscribed: (x: string) => `${x} cannot be watched: logical replication fires no triggers.`,
  distributed: (x: string) => `${x} cannot be watched: its rows lie on other servers.`,
  clock: (x: string) => `${x} cannot be watched: it depends on the clock.`,
  volatile: (x: string) => `${x} cannot be watched: it is volatile.`,
  unknown: (x: string) => `${x} cannot be watched: what it reads is not known.`,
} as const

/** A setting is nobody's but the owner's of what asks for it. */
const settingSentence = (x: string, name = ''): string =>
  `${x} cannot be watched: it depends on ${name === '' ? 'a setting' : `the setting ${name}`}.`

type Sentence = (typeof sentences)[keyof typeof sentences]

type Known = KnownRelation | KnownFunction

const because = (object: Known, sentence: Sentence): LiveReason => ({
  sentence: sentence(nameOf(object)),
  usage: withPredefined(object.usage, 'USAGE', 'schema'),
  rights: 'volatility' in object ? object.rights : withPredefined(object.rights, 'SELECT', 'relation'),
})

const reasonOf = (object: Known, fault: Fault): LiveReason =>
  fault.kind === 'setting'
    ? {
        ...because(object, (x) => settingSentence(x, fault.name)),
        forCallers: settingSentence(nameOf(object)),
      }
    : because(object, sentences[fault.kind])

/** What reading something comes to. */
interface Node {
  readonly refused: readonly LiveReason[]
  /** The table whose rows it is about. */
  readonly table: KnownRelation | null
  readonly to: readonly (() => Node)[]
}

export interface LiveVerdict {
  readonly facts: LiveFacts
  /** Tables whose changes have to be told, where nothing else is in the way. */
  readonly wanted: readonly LiveRelation[]
  /** Those that are not. */
  readonly untold: readonly KnownRelation[]
}

export interface Judge {
  readonly relation: (oid: Oid) => LiveVerdict
  readonly function: (oid: Oid) => LiveVerdict
}

/**
 * Decides what can be watched (spec/graphql.md 16.1).
 * @param distributed relations whose rows lie on other servers
 * @param awaited relations whose trees get their triggers later
 */
export function createJudge(closure: Closure, distributed: ReadonlySet<Oid>, awaited: readonly LiveRelation[]): Judge {
  const made = new Map<string, Node>()
  const once = (key: string, make: () => Node) => (): Node => {
    const known = made.get(key) ?? make()
    made.set(key, known)
    return known
  }
  const isLive = (relation: KnownRelation): boolean => {
    const own = liveOf('relation', relation.comment)
    if (own !== null) return own
    const [parent] = relation.parents.flatMap((oid) => closure.relations.get(oid) ?? [])
    return parent === undefined ? (liveOf('schema', relation.schemaComment) ?? false) : isLive(parent)
  }

  /** Its rows, and those of the tables that it inherits from or to: a statement on one changes rows of another. */
  const rows = (oid: Oid): (() => Node) =>
    once(`rows ${oid}`, () => {
      const relation = closure.relations.get(oid)
      if (relation === undefined) throw new TypeError(`relation ${oid} was not read`)
      return {
        refused: rowFaults(relation).map((sentence) => because(relation, sentence)),
        table: isTable(relation) ? relation : null,
        to: [...relation.parents, ...relation.children].map(rows),
      }
    })
  const rowFaults = (relation: KnownRelation): readonly Sentence[] => {
    if (relation.system || !isOrdinary(relation)) return [sentences.rowless]
    if (!isLive(relation)) return [sentences.off]
    if (distributed.has(relation.oid)) return [sentences.distributed]
    return relation.subscribed ? [sentences.subscribed] : []
  }
  const relation = (oid: Oid): (() => Node) =>
    once(`relation ${oid}`, () => {
      const known = closure.relations.get(oid)
      if (known === undefined) throw new TypeError(`relation ${oid} was not read`)
      return { ...dependent(known), table: null, to: [rows(oid), ...edgesOf(known)] }
    })
  const call = (oid: Oid): (() => Node) =>
    once(`function ${oid}`, () => {
      const known = closure.functions.get(oid)
      if (known === undefined) throw new TypeError(`function ${oid} was not read`)
      const own = dependent(known)
      const isVolatile = known.volatility === 'v' && known.kind !== 'a' && systemFaults(known).length === 0
      return {
        table: null,
        to: edgesOf(known),
        // What is wrong with a volatile function otherwise is of no interest; a function of Postgres is its callers' fault.
        refused: isVolatile ? [because(known, sentences.volatile)] : known.system ? [] : own.refused,
      }
    })
  /** What functions of Postgres depend on, no matter who calls them. */
  const systemFaults = ({ system, schema, name, depends }: KnownFunction): readonly Fault[] => {
    const kind = system && schema === 'pg_catalog' ? systemFault(name) : null
    return [...(kind === null ? [] : [{ kind }]), ...(system ? depends.faults : [])]
  }
  const calledOf = ({ depends, ...object }: Known): readonly Oid[] => [
    ...depends.functions,
    ...depends.operators.flatMap((oid) => closure.operators.get(oid) ?? []),
    ...('parts' in object ? object.parts : []),
  ]
  const edgesOf = (object: Known): Node['to'] => [
    ...object.depends.relations.map(relation),
    ...calledOf(object).map(call),
  ]
  const dependent = (object: Known): Pick<Node, 'refused'> => {
    const { faults, functions } = object.depends
    const ofSystem = functions.flatMap((oid) => {
      const called = closure.functions.get(oid)
      return called === undefined || !called.system ? [] : [...systemFaults(called), ...innerFaults(called)]
    })
    return { refused: [...faults, ...ofSystem].map((fault) => reasonOf(object, fault)) }
  }
  const innerFaults = ({ depends }: KnownFunction): readonly Fault[] =>
    depends.functions.flatMap((oid) => {
      const called = closure.functions.get(oid)
      return called === undefined ? [] : systemFaults(called)
    })
  const isAwaited = ({ schema, name, parents }: KnownRelation): boolean =>
    awaited.some((one) => one.schema === schema && one.name === name) ||
    parents.some((oid) => {
      const parent = closure.relations.get(oid)
      return parent !== undefined && isAwaited(parent)
    })

  const judged = (start: Node): LiveVerdict => {
    const nodes = reachedFrom([start])
    const refused = nodes.flatMap((node) => node.refused)
    const tables = nodes.flatMap(({ table }) => table ?? [])
    const untold = refused.length > 0 ? [] : tables.filter(({ told }) => !told)
    const never = untold.filter((table) => !isAwaited(table))
    const all = [...refused, ...never.map((table) => because(table, sentences.untold))]
    const roots = tables.filter(isTop).map(nameOnly).sort(byName)
    const wanted = refused.length > 0 ? [] : roots
    if (all.length > 0) return { facts: { refused: inOrder(all) }, wanted, untold }
    const later = inOrder(untold.map((table) => because(table, sentences.awaited)))
    return { facts: { reads: roots, ...(later.length > 0 && { awaited: later }) }, wanted, untold }
  }
  /** None of a table whose policies read it: other rows decide, too. */
  const ownOf = (known: KnownRelation): OwnRows | null => {
    const asked = reachedFrom(edgesOf(known).map((next) => next()))
    const [root, ...others] = reachedFrom([rows(known.oid)()]).flatMap(({ table }) =>
      table !== null && isTop(table) ? [table] : [],
    )
    if (root === undefined || others.length > 0 || asked.includes(rows(known.oid)())) return null
    return { relation: nameOnly(root), pins: known.pins.filter((column) => root.pins.includes(column)) }
  }
  return {
    relation: (oid) => {
      const known = closure.relations.get(oid)
      if (known === undefined) throw new TypeError(`relation ${oid} was not read`)
      if (!isLive(known)) return { facts: { refused: [because(known, sentences.off)] }, wanted: [], untold: [] }
      const found = judged(relation(oid)())
      const own = 'reads' in found.facts && isTable(known) ? ownOf(known) : null
      return own === null ? found : { ...found, facts: { ...found.facts, own } }
    },
    function: (oid) => judged(call(oid)()),
  }
}

/** These and all that they lead to. */
function reachedFrom(nodes: readonly Node[]): readonly Node[] {
  const seen = new Set(nodes)
  // A Set's iterator also visits what is added meanwhile.
  for (const node of seen) for (const next of node.to) seen.add(next())
  return [...seen]
}

const liveOf = (kind: 'relation' | 'schema', comment: string | null): boolean | null =>
  comment === null ? null : readComment(kind, () => '', comment).settings.live

/** It inherits from none. */
const isTop = ({ parents }: KnownRelation): boolean => parents.length === 0

const isTable = ({ kind }: KnownRelation): boolean => kind === 'r' || kind === 'p'

/** What nothing tells the changes of: materialized views, foreign tables, sequences, tables of Postgres. */
const isOrdinary = (relation: KnownRelation): boolean => isTable(relation) || relation.kind === 'v'

const nameOf = (object: Known): string => ('volatility' in object ? nameCalled(object) : nameKnown(object))

const nameKnown = ({ schema, name, kind }: KnownRelation): string =>
  kind === 'S' || kind === 't'
    ? nameRelation({ schema, name, kind: 'r' }).replace(/^table/, kind === 'S' ? 'sequence' : 'table')
    : nameRelation({ schema, name, kind })

const nameCalled = ({ schema, name, types }: KnownFunction): string =>
  nameFunction({ schema, name, args: types.map((typeText) => ({ typeText })) })

/** Each once, by its sentence. */
const inOrder = (reasons: readonly LiveReason[]): readonly LiveReason[] =>
  [...new Map(reasons.map((reason) => [reason.sentence, reason])).values()].sort((a, b) =>
    compareBytes(a.sentence, b.sentence),
  )

const nameOnly = ({ schema, name }: KnownRelation): LiveRelation => ({ schema, name })

const byName = (a: LiveRelation, b: LiveRelation): number =>
  compareBytes(a.schema, b.schema) || compareBytes(a.name, b.name)
