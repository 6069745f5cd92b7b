import { setTimeout as pause } from 'node:timers/promises'
import type { Endpoint } from '../cluster.ts'
import { pgbouncerThat, startPgbouncer } from '../pgbouncer.ts'
import { createRandom, type Random } from '../random.ts'
import { openReplicated, replicas, staleMs, standOn, type Standing, type TopologyOptions } from '../standing.ts'
import { endAll } from './end-all.ts'
import { openHosts } from './hosts.ts'
import { fair, openLine, type Line, type Weather } from './line.ts'

/** The lines by who asks along them, and whom. */
export type LineName = 'server to pooler' | 'pooler to primary' | 'server to replica' | 'replica to primary'

export type Lines = Readonly<Record<LineName, Line>>

export interface SeveralHosts extends Standing {
  readonly lines: Lines
}

/** Codes of what fails because a line does. */
export const outages = ['DATABASE_UNAVAILABLE', 'DATABASE_TIMEOUT', 'DEADLINE_EXCEEDED', 'OVERLOADED']

/** Of lines within a data centre on a busy day. */
export const usual: Weather = { ...fair, latencyMs: 1, jitterMs: 2, lostPercent: 1 }

/** The fault of a line, and its longest duration in milliseconds. */
const spells: readonly { readonly weather: Weather; readonly ms: number; readonly cuts: boolean }[] = [
  { weather: { ...usual, latencyMs: 40, jitterMs: 30 }, ms: 2_000, cuts: false },
  { weather: { ...usual, lostPercent: 20 }, ms: 2_000, cuts: false },
  { weather: { ...usual, parted: true }, ms: 1_500, cuts: false },
  { weather: { ...usual, parted: true }, ms: 4_000, cuts: false },
  { weather: { ...usual, parted: true }, ms: 1_000, cuts: true },
  { weather: usual, ms: 1, cuts: true },
]

const mostPauseMs = 1_500

/** One line after the other is upset for a while. */
async function upsetLines(lines: Lines, random: Random, isOver: () => boolean): Promise<void> {
  const all = Object.values(lines)
  while (!isOver()) {
    await pause(random(mostPauseMs))
    const [line, spell] = [all[random(all.length)], spells[random(spells.length)]]
    if (line === undefined || spell === undefined) continue
    line.set(spell.weather)
    if (spell.cuts) line.cut()
    await pause(random(spell.ms))
    line.set(usual)
  }
}

/** A server, a pooler, a primary and a replica, each on a host of its own. */
export async function openSeveralHosts(options: TopologyOptions): Promise<SeveralHosts> {
  const program = pgbouncerThat(true) ?? pgbouncerThat(false)
  if (program === null) throw new Error('There is no PgBouncer.')
  const hosts = await openHosts(['server', 'pooler', 'primary', 'replica'])
  const opened: (() => Promise<unknown>)[] = [hosts.close]
  const close = (): Promise<void> => endAll(opened)
  try {
    const random = createRandom(1)
    const lineTo = async (target: Endpoint): Promise<Line> => {
      const line = await openLine(hosts.address, target, random)
      opened.push(line.close)
      return line
    }
    const toPrimary: Line[] = []
    const servers = await openReplicated(1, options, {
      hosts: [hosts.named('primary'), hosts.named('replica')],
      upstream: async (server) => {
        const line = await lineTo(server)
        toPrimary.push(line)
        return line
      },
    })
    opened.push(servers.remove)
    const { primary, standbys } = servers
    const [replica] = standbys
    const [replication] = toPrimary
    if (replica === undefined || replication === undefined) throw new Error('There is no replica.')
    const poolerToPrimary = await lineTo(primary.cluster)
    const host = hosts.named('pooler')
    const pooler = await startPgbouncer({
      program: program.path,
      host,
      serverAddress: poolerToPrimary.address,
      serverPort: poolerToPrimary.port,
      lines: [
        ...['default_pool_size = 20', 'min_pool_size = 4', 'max_client_conn = 200', 'server_login_retry = 1'],
        ...(program.keepsStatements ? ['max_prepared_statements = 200'] : []),
      ],
    })
    opened.push(pooler.close)
    const lines: Lines = {
      'replica to primary': replication,
      'pooler to primary': poolerToPrimary,
      'server to pooler': await lineTo({ address: host.address, port: pooler.port }),
      'server to replica': await lineTo(replica.cluster),
    }
    for (const line of Object.values(lines)) line.set(usual)
    const along = (url: string, { address, port }: Endpoint): string =>
      Object.assign(new URL(url), { hostname: address, port: String(port) }).href
    const through = (url: string): string => along(url, lines['server to pooler'])
    const onLine = { ...replica, url: along(replica.url, lines['server to replica']) }
    const standing = await standOn(primary, standbys, options, {
      url: through(primary.url),
      environment: {
        DATABASE_OWNER_URL: through(primary.ownerUrl),
        DATABASE_LISTEN_URL: along(primary.url, poolerToPrimary),
        ...replicas([onLine]),
      },
      staleMs,
      pooler: pooler.pid,
      host: hosts.named('server'),
      upset: (choices) => {
        let isOver = false
        const done = upsetLines(lines, choices, () => isOver)
        return () => {
          isOver = true
          return done
        }
      },
      drop: close,
    })
    return { ...standing, lines }
  } catch (error) {
    await close()
    throw error
  }
}
