import { readFileSync } from 'node:fs'
import { longestToken } from '../identity/jwt.ts'
import type { BudgetSize, ByteBudget } from '../lib/byte-budget.ts'
import type { ServerLimits } from './servers.ts'

/** The share of this process's memory, connections and time that clients may use. */

const mebibyte = 1_048_576

/** For answers that Postgres sends or that clients have yet to read; a share holds the largest possible answer. */
const answersSize: BudgetSize = { bytes: 96 * mebibyte, share: 32 * mebibyte }

/** The part of one of several processes; it still holds one share. */
export const answersSizeOf = (processes: number): BudgetSize => divided(answersSize, processes)

const divided = ({ bytes, share }: BudgetSize, processes: number): BudgetSize => ({
  bytes: Math.max(share, Math.floor(bytes / processes)),
  share,
})

/** For bodies of requests without an answer; a share holds the largest one. */
export function bodiesSize(largestBody: number, processes: number): BudgetSize {
  const share = Math.max(16 * mebibyte, largestBody)
  return divided({ bytes: 4 * share, share }, processes)
}

/** The time in which a client must send its request: the headers, and each further mebibyte. */
const sendingMs = 10_000

/** The time in which a client must read something of its answer; the default. */
const usualWriteTimeoutMs = 10_000

/** Bytes per second that a client must read while others wait for memory. */
const slowestReader = 65_536
const slowestInWant = mebibyte

const mostConnections = 8_000
const mostOfAddress = 1_000
/** Bytes of headers beside the longest token: Node's default for all of them. */
const otherHeaders = 16_384
/** Reserved for the database and for files. */
const otherFiles = 200

export interface LimitOptions {
  readonly bodyLimitBytes: number
  readonly writeTimeoutMs?: number
  /** Whether all clients come from the address of a proxy. */
  readonly behindProxy?: boolean
  /** The maximum number of live streams; absent: none. */
  readonly liveStreams?: number
  /** How many processes share the clients; absent: only this one. */
  readonly workers?: number
}

export function usualServerLimits(options: LimitOptions, answers: ByteBudget): ServerLimits {
  const { workers = 1, liveStreams = 0 } = options
  const files = Math.max(otherFiles, mostFiles() - otherFiles)
  const connections = Math.min(Math.ceil(mostConnections / workers), files)
  const withinMs = options.writeTimeoutMs ?? usualWriteTimeoutMs
  return {
    headerBytes: longestToken + otherHeaders,
    headersMs: sendingMs,
    requestMs: Math.ceil(sendingMs * Math.max(1, options.bodyLimitBytes / mebibyte)),
    pace: () => ({ withinMs, slowest: answers.isWanted() ? slowestInWant : slowestReader }),
    connections,
    streams: Math.min(Math.ceil(liveStreams / workers), files - connections),
    connectionsOfAddress: options.behindProxy === true ? null : Math.ceil(mostOfAddress / workers),
  }
}

/** Files and sockets that the system lets this process open; only Linux shows it cheaply. */
function mostFiles(): number {
  try {
    const most = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return most === undefined ? Infinity : Number(most)
  } catch {
    return Infinity
  }
}
