import type { LiveRelation } from '../../../runtime/contract/live.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import { inTurns } from '../../../runtime/lib/steps.ts'
import { createCatalogReader, type CatalogQuery, type ReadOptions } from '../../catalog/read.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { annotate, type Noted } from '../../comments/annotate.ts'
import { createAccessReader } from '../../comments/read-access.ts'
import { treeApart } from '../parse-apart.ts'
import type { Timed } from '../../catalog/diagnostics/timing.ts'
import { createLiveReader, isAnyLive, type LiveAnswer } from './live-relations.ts'

/** Triggers that tell changes of live tables. */
export interface LiveTriggers {
  /** SQL that tells whether the relation `c` of pg_class has them. */
  readonly told: string
  /** Gives them to these tables where it may, and takes them from those that are live no more. */
  readonly install: (relations: readonly LiveRelation[]) => Promise<Installed>
}

export interface Installed {
  /** All of them have triggers. */
  readonly isWhole: boolean
  /** Those that get theirs later, since others hold locks on them. */
  readonly awaited: readonly LiveRelation[]
}

export interface DatabaseReaderOptions extends ReadOptions {
  readonly query: CatalogQuery
  /** Left out: nothing can be watched, since nothing tells changes. */
  readonly triggers?: LiveTriggers
}

/** What a database is, what its comments ask for, and what can be watched; null: nothing is live. */
export interface DatabaseRead {
  readonly catalog: Catalog
  readonly noted: Noted
  readonly live: LiveAnswer | null
}

/** How often a database is read that changes meanwhile. */
const attempts = 5

/**
 * Makes a reader of a database. Where all that keeps tables from being watched is that they have no triggers, it gives them some and
 * reads again: a comment makes a table live for the next request. Where the database is still at the version of `last`, it gives that
 * back.
 */
export function createDatabaseReader(
  options: DatabaseReaderOptions,
  memo: Memo,
): <Last extends Pick<DatabaseRead, 'catalog'>>(timed: Timed, last?: Last) => Promise<DatabaseRead | Last> {
  const { query, triggers, ...readOptions } = options
  const read = createCatalogReader(query, readOptions)
  const told = triggers?.told ?? 'false'
  const readLive = createLiveReader({ query, parse: treeApart, schemas: options.schemas, told })
  const readAccess = createAccessReader(treeApart, memo)
  const readRest = async (timed: Timed, catalog: Catalog, awaited: readonly LiveRelation[]): Promise<DatabaseRead> => {
    const noted = await timed('comments', async () => readAccess(await inTurns(annotate(catalog, memo))))
    const { annotated } = noted
    const isLive = await inTurns(isAnyLive(memo, annotated))
    return { catalog, noted, live: isLive ? await timed('live', () => readLive(annotated, awaited)) : null }
  }
  const readWhole = async <Last extends Pick<DatabaseRead, 'catalog'>>(
    timed: Timed,
    awaited: readonly LiveRelation[],
    last?: Last,
  ): Promise<DatabaseRead | Last> => {
    for (let attempt = 1; ; attempt += 1) {
      const catalog = await timed('catalog', read)
      if (last !== undefined && catalog.version !== null && catalog.version === last.catalog.version) return last
      try {
        return await readRest(timed, catalog, awaited)
      } catch (error) {
        if (!(error instanceof TypeError) || attempt >= attempts) throw error
      }
    }
  }
  /** Tables that were given triggers last; null: none were, and those that are there are another service's. */
  let given: string | null = null
  const isDue = ({ live }: DatabaseRead): boolean =>
    (live?.untold.length ?? 0) > 0 || (given !== null && given !== JSON.stringify(live?.wanted ?? []))
  return async (timed, last) => {
    for (let attempt = 1; ; attempt += 1) {
      const found = await readWhole(timed, [], last)
      if (!('noted' in found)) return found
      if (triggers === undefined || !isDue(found)) {
        if (found.live !== null) given = JSON.stringify(found.live.wanted)
        return found
      }
      const wanted = found.live?.wanted ?? []
      const { isWhole, awaited } = await triggers.install(wanted)
      given = JSON.stringify(wanted)
      // Another service that knew an older schema may have taken some away again.
      if (!isWhole || attempt >= attempts) return readWhole(timed, awaited)
    }
  }
}
