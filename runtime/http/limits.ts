import { readFileSync } from 'node:fs'
import { longestToken } from '../identity/jwt.ts'
import type { BudgetSize, ByteBudget } from '../lib/byte-budget.ts'
import type { ServerLimits } from './servers.ts'

/** How much of what clients may take of this process: of its memory, its connections, its time. */

const mebibyte = 1_048_576

/** Of answers that Postgres sends or that clients have yet to read; a share holds the largest answer that there is. */
const answersSize: BudgetSize = { bytes: 96 * mebibyte, share: 32 * mebibyte }

/** The part of one of several processes; it still holds one share. */
export const answersSizeOf = (processes: number): BudgetSize => divided(answersSize, processes)

const divided = ({ bytes, share }: BudgetSize, processes: number): BudgetSize => ({
  bytes: Math.max(share, Math.floor(bytes / processes)),
  share,
})

/** Of bodies of requests that have no answer yet; a share holds the largest one. */
export function bodiesSize(largestBody: number, processes: number): BudgetSize {
  const share = Math.max(16 * mebibyte, largestBody)
  return divided({ bytes: 4 * share, share }, processes)
}

/** Within which a client sends its request: the headers, and of the rest a mebibyte each time. */
const sendingMs = 10_000

/** Within which a client takes something of its answer; the default. */
const usualWriteTimeoutMs = 10_000

/** Bytes a second that a client takes of an answer, and while others wait for the memory. */
const slowestReader = 65_536
const slowestInWant = mebibyte

const mostConnections = 8_000
const mostOfAddress = 1_000
/** Bytes of headers beside the longest token: as much as Node has for all. */
const otherHeaders = 16_384
/** Left for the database and for files. */
const otherFiles = 200

export interface LimitOptions {
  readonly bodyLimitBytes: number
  readonly writeTimeoutMs?: number
  /** Whether a proxy stands in front, from whose address all clients come. */
  readonly behindProxy?: boolean
  /** Streams of live queries that there may be; left out: none. */
  readonly liveStreams?: number
  /** How many processes share the clients; left out: this one has all. */
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
    const told = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return told === undefined ? Infinity : Number(told)
  } catch {
    return Infinity
  }
}
