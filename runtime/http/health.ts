import type { FastifyInstance } from 'fastify'
import { singleFlight } from '../lib/single-flight.ts'
import { retryAfterSeconds } from './failures.ts'

export interface Health {
  /** `starting`: no schema is loaded yet; `down`: the database does not answer. */
  readonly status: 'ok' | 'starting' | 'down'
  /** Revision of the artifacts that are served. */
  readonly revision: string | null
  /** When the newest schema could not be compiled; the reason stands in the log, since anybody may read this. */
  readonly compileFailedAt: string | null
}

export interface HealthSources {
  readonly revision: () => string | null
  readonly compileFailedAt: () => string | null
  /** Rejects when the database does not answer. */
  readonly ping: () => Promise<void>
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** Anybody may ask, so however many ask, the database is asked once in this time. */
const pingKeptMs = 1000

/** Makes the check; it never rejects. */
export function createHealthCheck(sources: HealthSources): () => Promise<Health> {
  const answers = rarely(sources.now, async () => {
    await sources.ping()
  })
  return async () => {
    const revision = sources.revision()
    const status = revision === null ? 'starting' : (await answers()) ? 'ok' : 'down'
    return { status, revision, compileFailedAt: sources.compileFailedAt() }
  }
}

/** Registers GET /health: no key; 200 when requests can be served, else 503. */
export function registerHealth(app: FastifyInstance, health: () => Promise<Health>): void {
  app.get('/health', async (_request, reply) => {
    const report = await health()
    if (report.status !== 'ok') reply.code(503).header('retry-after', retryAfterSeconds)
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(JSON.stringify(report))
  })
}

/** Whether the work succeeds, looked up again only when the last answer is old. */
function rarely(now: () => number, work: () => Promise<void>): () => Promise<boolean> {
  let last = { at: Number.NEGATIVE_INFINITY, good: false }
  const ask = singleFlight(async () => {
    const good = await work().then(
      () => true,
      () => false,
    )
    last = { at: now(), good }
    return good
  })
  return async () => (now() - last.at < pingKeptMs ? last.good : ask())
}
