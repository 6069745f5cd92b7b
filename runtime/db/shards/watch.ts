import type { Manifest } from '../../contract/manifest.ts'
import { watchServer } from '../../lib/retry.ts'
import type { Log } from '../../settings/log/events.ts'
import type { Query } from '../connect/session.ts'
import { readShardStatus, shardWords, type ShardFault, type ShardStatus } from './shard-status.ts'

export interface ShardWatch {
  /**
   * From now on looks where the rows of this schema lie on other servers; stops if they do not. Null: the schema could
   * not be built, for example while a database is prepared whose worker nodes are away.
   */
  readonly follow: (manifest: Manifest | null) => void
  /** The change that is needed for all nodes to answer; null: no known fault. */
  readonly fault: () => string | null
  readonly stop: () => void
}

/** Each probe opens a connection to each node for each role of the API. */
const calmMs = 10_000
/** A repaired fault is reported soon. */
const faultyMs = 2_000
/** A silent node delays a probe by two seconds per role. */
const timeoutMs = 10_000

/** Any role may read it: a node is named by its number in the catalogue, not by its address. */
const sentenceOf = (fault: ShardFault): string => {
  const { message, fix } = shardWords(fault, ({ id }) => `${id} of pg_dist_node`)
  return `${message}: ${fix}`
}

/** @param query runs statements as the login role */
export function createShardWatch(query: Query, log: Log): ShardWatch {
  let faults: readonly string[] = []
  let end: (() => void) | null = null
  const onResult = (status: ShardStatus): void => {
    const found = status.faults.map(sentenceOf)
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
      probe: () => readShardStatus(query),
      onResult,
      // The coordinator is away, which is reported elsewhere: the known state of its nodes stays.
      onFailure: () => undefined,
      pauseMs: () => (faults.length === 0 ? calmMs : faultyMs),
      timeoutMs,
    })
  }
  return {
    follow: (manifest) => (manifest !== null && manifest.distributed === undefined ? stop() : start()),
    fault: () => faults[0] ?? null,
    stop,
  }
}
