import type { LiveFacts, LiveRelation } from '../../../runtime/contract/live.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import { inTurns } from '../../../runtime/lib/steps.ts'
import { createCatalogReader, type CatalogQuery, type ReadOptions } from '../../catalog/read.ts'
import type { Catalog, Oid } from '../../catalog/catalog.ts'
import { annotate, type Noted, createAccessReader } from '../../comments/annotate.ts'
import type { KeyTable } from '../../comments/settings.ts'
import { treeApart } from '../parse-apart.ts'
import type { Timed } from '../../../runtime/lib/timers.ts'
import { compareBytes } from '../../../runtime/lib/text.ts'
import type { Annotated, AnnotatedRelation, AnnotatedSchema } from '../../comments/annotated.ts'
import type { WatchedFacts } from '../../model/build.ts'
import { judgeFunction, judgeRelation, type Judge, type LiveVerdict } from './judge.ts'
import { createClosureReader, type ClosureOptions, type LiveComments } from './read-relations.ts'

export interface LiveTriggers {
  /** SQL for whether the relation `c` of pg_class has them. */
  readonly hasTriggers: string
  /** Installs them on these tables if possible, and removes them from tables that are no longer live. */
  readonly install: (relations: readonly LiveRelation[]) => Promise<Installed>
}

export interface Installed {
  /** All of them have triggers. */
  readonly isWhole: boolean
  /** Those that will get theirs later, because other sessions hold locks on them. */
  readonly awaited: readonly LiveRelation[]
}

/** By OID, of the relations and functions of the served schemas. */
export interface Watched {
  readonly relations: ReadonlyMap<Oid, LiveFacts>
  readonly functions: ReadonlyMap<Oid, LiveFacts>
}

/** How comments make objects live, and the facts about these. */
export interface LiveSettings {
  readonly isLive: (one: AnnotatedSchema | AnnotatedRelation) => boolean
  readonly comments: LiveComments
  readonly factsOf: (watched: Watched) => WatchedFacts
}

interface DatabaseReaderOptions extends ReadOptions {
  readonly query: CatalogQuery
  /** Absent: no live queries, because there are no triggers. */
  readonly triggers?: LiveTriggers
}

/** The database, its comment settings, and the objects that can be watched; null: no relation is live. */
interface DatabaseRead {
  readonly catalog: Catalog
  readonly noted: Noted
  readonly live: LiveAnswer | null
}

/** How often a database is read again that changes during the read. */
const attempts = 5

interface DatabaseReader {
  /** Returns `last` if the database still has its version. */
  readonly read: <Last extends Pick<DatabaseRead, 'catalog'>>(timed: Timed, last?: Last) => Promise<DatabaseRead | Last>
  /** The catalogue as it is now, with which the next read continues. */
  readonly ahead: () => Promise<Catalog>
}

/**
 * Creates a reader of a database. If tables cannot be watched only because they lack triggers, it installs them and
 * reads again: a comment makes a table live for the next request.
 * @param settings absent: no comment makes anything live
 */
export function createDatabaseReader(
  options: DatabaseReaderOptions,
  keys: KeyTable,
  memo: Memo,
  settings?: LiveSettings,
): DatabaseReader {
  const { query, triggers, ...readOptions } = options
  const readCatalog = createCatalogReader(query, readOptions)
  let found: Catalog | null = null
  /** Where `last` is given, each request checks the version: then what was read ahead will do. */
  const next = async (last?: Pick<DatabaseRead, 'catalog'>): Promise<Catalog> => {
    const kept = found
    found = null
    return last === undefined || kept === null || kept.version === last.catalog.version ? readCatalog() : kept
  }
  const hasTriggers = triggers?.hasTriggers ?? 'false'
  const { schemas } = options
  const readLive = settings && createLiveReader({ query, parse: treeApart, schemas, hasTriggers }, settings)
  const readAccess = createAccessReader(treeApart, memo)
  const readRest = async (timed: Timed, catalog: Catalog, awaited: readonly LiveRelation[]): Promise<DatabaseRead> => {
    const noted = await timed('comments', async () => readAccess(await inTurns(annotate(catalog, keys, memo))))
    const { annotated } = noted
    const isAny = settings && [...annotated.schemas, ...annotated.relations].some(settings.isLive)
    return { catalog, noted, live: readLive && isAny ? await timed('live', () => readLive(annotated, awaited)) : null }
  }
  const readWhole = async <Last extends Pick<DatabaseRead, 'catalog'>>(
    timed: Timed,
    awaited: readonly LiveRelation[],
    last?: Last,
  ): Promise<DatabaseRead | Last> => {
    for (let attempt = 1; ; attempt += 1) {
      const catalog = await timed('catalog', () => next(last))
      if (last !== undefined && catalog.version !== null && catalog.version === last.catalog.version) return last
      try {
        return await readRest(timed, catalog, awaited)
      } catch (error) {
        if (!(error instanceof TypeError) || attempt >= attempts) throw error
      }
    }
  }
  /** Tables for which triggers were installed last; null: none, and existing ones belong to another service. */
  let given: string | null = null
  const isDue = ({ live }: DatabaseRead): boolean =>
    (live?.unwatched.length ?? 0) > 0 || (given !== null && given !== JSON.stringify(live?.wanted ?? []))
  return {
    ahead: async () => (found = await readCatalog()),
    read: async (timed, last) => {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await readWhole(timed, [], last)
        if (!('noted' in answer)) return answer
        if (triggers === undefined || !isDue(answer)) {
          if (answer.live !== null) given = JSON.stringify(answer.live.wanted)
          return answer
        }
        const wanted = answer.live?.wanted ?? []
        const { isWhole, awaited } = await triggers.install(wanted)
        given = JSON.stringify(wanted)
        // Another service with an older schema may have removed some again.
        if (!isWhole || attempt >= attempts) return readWhole(timed, awaited)
      }
    },
  }
}

/** The objects that can be watched, and those that could be with triggers. */
interface LiveAnswer {
  readonly facts: WatchedFacts
  /** Tables whose changes must be reported. */
  readonly wanted: readonly LiveRelation[]
  /** Tables that cannot be watched only because their changes are not reported. */
  readonly unwatched: readonly LiveRelation[]
}

/**
 * Creates the reader of watchable objects. It rejects as `query` does, and with a TypeError after concurrent changes.
 */
function createLiveReader(
  options: Omit<ClosureOptions, 'comments'>,
  { comments, factsOf }: LiveSettings,
): (annotated: Annotated, awaited: readonly LiveRelation[]) => Promise<LiveAnswer> {
  const read = createClosureReader({ ...options, comments })
  return async (annotated, awaited) => {
    const { relations, functions } = annotated
    const closure = await read({ relations: relations.map(oidOf), functions: functions.map(oidOf) })
    const distributed = new Set(annotated.distributed?.map(oidOf))
    const judge: Judge = { closure, comments, distributed, awaited, nodes: new Map() }
    const judged = {
      relations: new Map(relations.map(({ oid }) => [oid, judgeRelation(judge, oid)])),
      functions: new Map(functions.map(({ oid }) => [oid, judgeFunction(judge, oid)])),
    }
    const all = [...judged.relations.values(), ...judged.functions.values()]
    const unwatched = new Map(all.flatMap((item) => item.unwatched).map((table) => [table.oid, table]))
    const wanted = new Map(all.flatMap((item) => item.wanted).map((table) => [JSON.stringify(table), table]))
    return {
      facts: factsOf({ relations: factsByOid(judged.relations), functions: factsByOid(judged.functions) }),
      wanted: [...wanted].sort(([a], [b]) => compareBytes(a, b)).map(([, table]) => table),
      unwatched: [...unwatched.values()].map(({ schema, name }) => ({ schema, name })),
    }
  }
}

const oidOf = ({ oid }: { readonly oid: Oid }): Oid => oid

const factsByOid = (judged: ReadonlyMap<Oid, LiveVerdict>): ReadonlyMap<Oid, LiveFacts> =>
  new Map([...judged].map(([oid, { facts }]) => [oid, facts]))
