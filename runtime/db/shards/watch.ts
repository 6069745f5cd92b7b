import type { Manifest } from '../../contract/manifest.ts'
import { watchServer } from '../../lib/watch-server.ts'
import type { Log } from '../../log/events.ts'
import type { Query } from '../connect/session.ts'
import { lookAtShards, shardWords, type ShardFault, type ShardSight } from './look.ts'

export interface ShardWatch {
  /**
   * Looks from now on where the rows of this schema lie on other servers, and no more where they do not. Null: it could not be made,
   * as where a database is prepared whose worker nodes are away.
   */
  readonly follow: (manifest: Manifest | null) => void
  /** What has to be changed for all of them to answer; null: nothing is known to be. */
  readonly fault: () => string | null
  readonly stop: () => void
}

/** Each look opens a connection to each node for each role of the API. */
const calmMs = 10_000
/** What was fixed is told soon. */
const faultyMs = 2_000
/** A node that is silent holds a look up for two seconds a role. */
const silentMs = 10_000

/** Anybody may read it: a node is named by its number in the catalogue, not by its address. */
const sentenceOf = (fault: ShardFault): string => {
  const { message, fix } = shardWords(fault, ({ id }) => `${id} of pg_dist_node`)
  return `${message}: ${fix}`
}

/** @param query runs statements as the login role */
export function createShardWatch(query: Query, log: Log): ShardWatch {
  let faults: readonly string[] = []
  let end: (() => void) | null = null
  const seen = (sight: ShardSight): void => {
    const found = sight.faults.map(sentenceOf)
    for (const fault of found) if (!faults.includes(fault)) log({ kind: 'shard-fault', fault })
    if (found.length === 0 && faults.length > 0) log({ kind: 'shards-back' })
    faults = found
  }
  const stop = (): void => {
    end?.()
    end = null
    faults = []
  }
  const start = (): void => {
    end ??= watchServer({
      look: () => lookAtShards(query),
      seen,
      // The coordinator itself is away, which is told by others: what is known of its nodes stays.
      failed: () => undefined,
      pauseMs: () => (faults.length === 0 ? calmMs : faultyMs),
      silentMs,
    })
  }
  return {
    follow: (manifest) => (manifest !== null && manifest.distributed === undefined ? stop() : start()),
    fault: () => faults[0] ?? null,
    stop,
  }
}
