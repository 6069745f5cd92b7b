import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { httpRequest, openConnection, type HttpConnection } from '../../../bench/support/http-client.ts'
import type { Verdicts } from './checks.ts'
import type { Marks } from './marks.ts'
import { watchCancelling, watchComing } from './costs.ts'
import { largestMb, mainThread, mostSince, servingThreads, type Besieged } from './server.ts'
import { markClass } from './schema.ts'
import type { Stalls } from './stalls.ts'

/** Looks at the server and at its statements from outside, all the time. */
export interface Watch {
  /** Marked statements that ran when it looked last. */
  readonly running: () => number
  /** The worst of the time since then: resident memory in MB, the event loop in milliseconds. */
  readonly worst: () => Worst
  readonly forget: () => void
  readonly stop: () => Promise<void>
}

export interface Worst {
  readonly memory: number
  readonly loop: number
  readonly health: number
  /** How many marks were seen at work: an attack that no statement came of attacks nothing. */
  readonly marks: number
}

export interface WatchParts {
  /** Of each Postgres that works for it, as the superuser. */
  readonly urls: readonly string[]
  readonly server: Besieged
  readonly marks: Marks
  readonly verdicts: Verdicts
  readonly stalls: Stalls
  readonly bounds: { readonly memoryMb: number; readonly loopMs: number; readonly goneMs: number }
}

const lookEveryMs = 50
const probeEveryMs = 100
const probePatienceMs = 10_000

/** A document shows its mark by an alias, a function by a lock. */
const statements = `
  select a.pid, extract(epoch from clock_timestamp()) * 1000 as now, extract(epoch from a.query_start) * 1000 as began,
    coalesce(a.wait_event, 'computing') as doing, left(a.query, 100) as query,
    coalesce(substring(a.query from 'siege_mark_(\\d+)')::int, l.objid::int) as mark
  from pg_stat_activity a
  left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.classid = ${markClass}
  where a.datname = current_database() and a.usename = 'authenticator' and a.state = 'active'`

interface Running {
  readonly pid: number
  readonly now: number
  readonly began: number
  readonly doing: string
  readonly query: string
  readonly mark: number | null
}

const preflight = httpRequest({ method: 'OPTIONS', path: '/graphql/v1' })
const health = httpRequest({ method: 'GET', path: '/health' })
const ready = httpRequest({ method: 'GET', path: '/readyz' })

export function startWatch({ urls, server, marks, verdicts, stalls, bounds }: WatchParts): Watch {
  let stopped = false
  /** On each Postgres. */
  const running = urls.map(() => 0)
  const worst = { memory: 0, loop: 0, health: 0 }
  const seen = new Set<number>()
  const told = new Set<number>()
  const cancelling = urls.map((url) => watchCancelling(Number(new URL(url).port)))
  const coming = watchComing(server.port)
  /** How long the backends of those who have left had waited for a processor when they were first seen. */
  const waited = new Map<string, number>()

  const judge = ({ pid, now, began, doing, query, mark }: Running): void => {
    if (mark !== null) seen.add(mark)
    const left = mark === null ? null : marks.leftAt(mark)
    if (mark === null || left === null || told.has(mark)) return
    const [since, backend] = [performance.now() - (Date.now() - left.at), mainThread(pid).waited]
    const before = waited.get(`${pid} ${mark}`)
    if (before === undefined) waited.set(`${pid} ${mark}`, backend)
    // A client that has left may not even have been let in. To cancel is one connection to Postgres, to see it another.
    const cancelled = cancelling.map((one) => one.since(since)).reduce((sum, ms) => sum + ms, 0)
    const busy = coming.since(since) + 2 * cancelled + stalls.since(since)
    // A backend that has ended has no figures any more.
    const kept = busy + Math.max(0, backend - (before ?? backend))
    const ms = Number(now) - left.at - kept
    if (ms <= left.mayGoOn + bounds.goneMs) return
    told.add(mark)
    const late = Math.round(Number(began) - left.at)
    const beginning = late > 0 ? `began ${late} ms after` : `had begun ${-late} ms before`
    const what = `${doing}, ${Math.round(Number(now) - left.at)} ms by the clock: ${query}`
    verdicts.fail('gone', `ran ${Math.round(ms)} ms after its client had left, and ${beginning} (${what})`, since)
  }

  const look = async (url: string, index: number): Promise<void> => {
    while (!stopped) {
      const client = new pg.Client(url)
      client.on('error', () => undefined)
      try {
        await client.connect()
        for (; !stopped; await pause(lookEveryMs)) {
          const rows = (await client.query(statements)).rows as Running[]
          running[index] = rows.filter(({ mark }) => mark !== null).length
          rows.forEach(judge)
        }
      } catch {
        // The database is away for as long as an attack wants it.
        await pause(lookEveryMs)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
  }

  /** One request after the other on a connection of its own. */
  const probing = async (request: Buffer, tell: (status: number, sent: number) => void): Promise<void> => {
    let connection: HttpConnection | null = null
    while (!stopped) {
      const sent = performance.now()
      try {
        connection ??= await openConnection(server.port, '127.0.1.200')
        const late = pause(probePatienceMs, null, { ref: false })
        const answer = await Promise.race([connection.send(request), late])
        if (answer === null) connection.close()
        tell(answer?.status ?? 0, sent)
        if (answer === null) connection = null
      } catch {
        connection = null
        if (!stopped && server.exitCode() === null) tell(0, sent)
      }
      await pause(probeEveryMs)
    }
    connection?.close()
  }

  let before = servingThreads(server.pid)
  const loop = probing(preflight, (status, sent) => {
    const after = servingThreads(server.pid)
    // Time that others took is not the loop's own; nor can the loop be blocked for longer than its thread ran.
    const ms = Math.max(0, Math.min(performance.now() - sent - stalls.since(sent), mostSince(before, after, 'ran')))
    before = after
    worst.loop = Math.max(worst.loop, ms)
    const memory = largestMb(server.pid)
    worst.memory = Math.max(worst.memory, memory)
    if (status === 0 || ms > bounds.loopMs) verdicts.fail('loop', `held for ${Math.round(ms)} ms`, sent)
    if (memory > bounds.memoryMb) verdicts.fail('memory', `${Math.round(memory)} MB`, sent)
  })
  const well = (path: string, request: Buffer): Promise<void> =>
    probing(request, (status, sent) => {
      worst.health = Math.max(worst.health, performance.now() - sent - stalls.since(sent))
      if (status !== 200) verdicts.fail('health', `${path} answered ${status}`, sent)
    })

  const all = Promise.all([...urls.map(look), loop, well('/health', health), well('/readyz', ready)])
  return {
    running: () => running.reduce((sum, count) => sum + count, 0),
    worst: () => ({ ...worst, marks: seen.size }),
    forget: () => {
      seen.clear()
      Object.assign(worst, { memory: 0, loop: 0, health: 0 })
    },
    stop: async () => {
      stopped = true
      await Promise.all(cancelling.map((one) => one.stop()))
      await coming.stop()
      await all
    },
  }
}
