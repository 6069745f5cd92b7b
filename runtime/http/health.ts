import type { FastifyInstance, FastifyReply } from 'fastify'
import { singleFlight } from '../lib/caches.ts'
import { within } from '../lib/timers.ts'
import { retryAfterSeconds } from './boundary.ts'

export interface Health {
  /** `starting`: no schema is loaded yet; `down`: the database does not answer; `stopping`: the process ends soon. */
  readonly status: 'ok' | 'starting' | 'down' | 'stopping'
  /** Revision of the artifacts that are served. */
  readonly revision: string | null
  /** When compiling the newest schema failed; the reason is in the log, because this is public. */
  readonly compileFailedAt: string | null
  /** The required action, in a sentence: not everything is served, or writes may be lost. */
  readonly fault: string | null
  /** How many replicas serve, and how many there are; absent: none. */
  readonly replicas?: { readonly serving: number; readonly all: number }
}

export interface HealthChecks {
  /** Whether the process works, with or without its database: never `down`. */
  readonly alive: () => Health
  /** Whether requests can be served; never rejects. */
  readonly ready: () => Promise<Health>
}

export interface HealthSources {
  readonly isDraining: () => boolean
  readonly revision: () => string | null
  readonly compileFailedAt: () => string | null
  readonly fault: () => string | null
  /** Why each replica does not serve, null if it does; absent: there are none. */
  readonly replicas?: () => readonly (string | null)[]
  /** When the database last answered anything, by the same clock. */
  readonly lastAnswer: () => number
  /** Asks the database on a separate connection; rejects without an answer. */
  readonly ping: () => Promise<void>
  /** Looks for the objects that requests need, and makes them if it may; false if they are missing. Never rejects. */
  readonly isPrepared: () => Promise<boolean>
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** A database without any answer for so long is down; while it answers anything, it is not pinged. */
const silenceMs = 5_000

/** The time for an answer of the database, in milliseconds: probes commonly have a second. */
const patienceMs = 800

export function createHealthChecks(sources: HealthSources): HealthChecks {
  // The endpoint is public, so concurrent calls share one question.
  const ask = singleFlight(async () => {
    const answered = sources.ping().then(
      () => true,
      () => false,
    )
    return (await within(patienceMs, answered)) && answered
  })
  const rarely = keeping(sources.now, ask)
  const isAnswering = async (): Promise<boolean> => sources.now() - sources.lastAnswer() < silenceMs || rarely()
  // While it is being prepared, or compiled, it counts as prepared.
  const isPrepared = keeping(
    sources.now,
    singleFlight(async () => {
      const looked = sources.isPrepared()
      return !(await within(patienceMs, looked)) || looked
    }),
  )
  const isServing = async (): Promise<boolean> =>
    (await Promise.all([isAnswering(), isPrepared()])).every((good) => good)
  const health = (status: Health['status']): Health => {
    const revision = sources.revision()
    const replicas = sources.replicas?.()
    return {
      status: revision === null ? 'starting' : sources.isDraining() ? 'stopping' : status,
      revision,
      compileFailedAt: sources.compileFailedAt(),
      fault: sources.fault(),
      ...(replicas !== undefined && { replicas: countServing(replicas) }),
    }
  }
  return {
    alive: () => health('ok'),
    ready: async () => health(sources.revision() !== null && !(await isServing()) ? 'down' : 'ok'),
  }
}

const countServing = (faults: readonly (string | null)[]): Health['replicas'] & object => ({
  serving: faults.filter((fault) => fault === null).length,
  all: faults.length,
})

const keptMs = 1_000

/** An answer holds for a second. */
function keeping(now: () => number, ask: () => Promise<boolean>): () => Promise<boolean> {
  let last = { at: Number.NEGATIVE_INFINITY, good: false }
  return async () => {
    if (now() - last.at < keptMs) return last.good
    const good = await ask()
    last = { at: now(), good }
    return good
  }
}

/**
 * Registers GET /health and /livez, 200 while the process works, and GET /readyz, 200 while requests can be served and
 * 503 otherwise. None needs a key.
 */
export function registerHealth(app: FastifyInstance, { alive, ready }: HealthChecks): void {
  for (const path of ['/health', '/livez']) app.get(path, (_request, reply) => report(reply, alive()))
  app.get('/readyz', async (_request, reply) => {
    const health = await ready()
    if (health.status !== 'ok') reply.code(503).header('retry-after', retryAfterSeconds)
    return report(reply, health)
  })
}

const report = (reply: FastifyReply, health: Health): FastifyReply =>
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(health))
