import { setTimeout as pause } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { httpRequest, sendOnce } from '../../../bench/support/http-client.ts'
import { quantile } from '../../../bench/support/statistics.ts'
import type { ClusterSource } from '../cluster.ts'
import { createRandom } from '../random.ts'
import { arm, type Attack, type Limits } from './arms.ts'
import { allAttacks } from './attacks.ts'
import { makeKey, storeKeys, type StandingKey } from './attacks/identity.ts'
import { withToken, type Caller } from './callers.ts'
import { createVerdicts, type Underway, type Verdicts } from './checks.ts'
import { startHonest, type Honest, type Sample } from './honest.ts'
import { startHonestStreams } from './honest-streams.ts'
import { askWho, createAsks, readSession } from './honest-asks.ts'
import { createMarks } from './marks.ts'
import { litterClass } from './schema.ts'
import { watchStalls } from './stalls.ts'
import { openTown, type Town } from './town.ts'
import { startWatch, type Worst } from './watch.ts'

/** A town with honest traffic, watched, on which attacks can be let loose. */
export interface Stage {
  readonly town: Town
  readonly attacks: readonly Attack[]
  readonly verdicts: Verdicts
  /** How attackers were refused, by code. */
  readonly refusals: ReadonlyMap<string, number>
  /** Honest traffic alone. */
  readonly alone: (ms: number) => Promise<Measured>
  /** Ends when everything is as before, or after `patienceMs`. */
  readonly assault: (attacks: readonly Attack[], ms: number, patienceMs?: number) => Promise<Assault>
  /** Ends honest traffic and the watch, and looks at what was written. */
  readonly audit: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface Measured {
  readonly samples: readonly Sample[]
  /** Of live queries. */
  readonly heard: readonly Sample[]
  readonly worst: Worst
}

export interface Assault extends Measured {
  readonly names: readonly string[]
  /** Milliseconds until everything was as before; null: it never was. */
  readonly recoveryMs: number | null
}

export interface StageOptions {
  readonly source: ClusterSource
  readonly seed: number
  readonly tell: (line: string) => void
  readonly perSecond?: number
  readonly settings?: Readonly<Record<string, string>>
}

/** A mutation whose client left runs to its deadline, which must lie within the time of recovery. */
const limits: Limits = { statementMs: 3_000, requestMs: 4_000, writeMs: 2_000 }

export const graceMs = 2_000

const usualSettings = {
  DB_POOL_SIZE: '8',
  STATEMENT_TIMEOUT_MS: String(limits.statementMs),
  REQUEST_TIMEOUT_MS: String(limits.requestMs),
  WRITE_TIMEOUT_MS: String(limits.writeMs),
  SHUTDOWN_GRACE_MS: String(graceMs),
}

/** Memory: 100 MB to begin with, 96 of answers, 64 of bodies, and 400 of the dearest document in the thread that reads. */
const bounds = { memoryMb: 700, loopMs: 250, goneMs: 200 }
/** An honest answer that comes later is late, on a machine whose processors are shared. */
const promptMs = 2_000
/** The same of a change, and of the first answer of a stream. */
const heardMs = 3_000
const recoveryMs = 5_000
/** The service must be good for this long. */
const steadyMs = 1_000
/** The time of a good answer on a machine that others keep busy, in milliseconds. */
const busyMs = 250
const strayMs = 10_000

export const latencies = (samples: readonly Sample[]): readonly number[] => samples.map(({ ms }) => ms)

const standingPerson = '00000000-0000-4000-8000-0000000000ff'

/** A token that auth has issued. */
async function signUp({ keys, server }: Town): Promise<Caller> {
  const body = { email: 'honest@example.com', password: 'correct horse battery' }
  const answer = await sendOnce(
    server.port,
    httpRequest({ path: '/auth/v1/signup', headers: { apikey: keys.anon }, body }),
  )
  const session = JSON.parse(answer.body.toString('utf8')) as { access_token: string; user: { id: string } }
  if (answer.status !== 200) throw new Error(answer.body.toString('utf8'))
  return withToken({ keys }, session.user.id, session.access_token)
}

async function keyHolderOf(town: Town, { key, kid }: StandingKey): Promise<Caller> {
  const claims = { sub: standingPerson, role: 'authenticated', exp: Math.floor(Date.now() / 1_000) + 86_400 }
  return withToken(town, standingPerson, await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(key))
}

/** The process that leads reads changes in one long transaction (docs/operate.md), which is none of these. */
const leftBehind = `
  select 'an advisory lock' as what from pg_locks where locktype = 'advisory' and classid = ${litterClass}
  union select 'a temporary table' from pg_class where relpersistence = 't'
  union select 'an open transaction' from pg_stat_activity
    where usename = 'authenticator' and state like 'idle in transaction%' and state_change < now() - interval '1 second'
      and pid not in (select pid from pg_locks where relation = to_regclass('catalograph.live_leader'))`

export async function openStage(options: StageOptions): Promise<Stage> {
  const { source, seed, tell, perSecond = 100, settings = {} } = options
  const random = createRandom(seed)
  const town = await openTown({ source, settings: { ...usualSettings, ...settings } })
  const stalls = watchStalls(town.server.pid)
  const [underway, refusals] = [[] as Underway[], new Map<string, number>()]
  const [marks, verdicts] = [createMarks(), createVerdicts(underway, tell)]
  const closing: (() => unknown)[] = [town.close, stalls.stop]
  const close = async (): Promise<void> => {
    for (let next = closing.pop(); next !== undefined; next = closing.pop()) await next()
  }
  try {
    const standing = await makeKey('standing')
    await storeKeys(town, [standing])
    const account = await signUp(town)
    const keyHolder = await keyHolderOf(town, standing)
    const session = readSession(await sendOnce(town.server.port, askWho(town)))
    const prefix = `s${seed}`
    const make = createAsks({ town, prefix, session, account, keyHolder })
    const { port } = town.server
    const honest = startHonest({ port, make, perSecond, random: createRandom(seed + 1), verdicts, stalls, promptMs })
    closing.push(honest.stop)
    const streams = startHonestStreams({ town, random: createRandom(seed + 3), verdicts, stalls, promptMs: heardMs })
    closing.push(streams.stop)
    const watch = startWatch({ urls: town.adminUrls, server: town.server, marks, verdicts, stalls, bounds })
    closing.push(watch.stop)
    let usual = Number.POSITIVE_INFINITY

    const run = async (attack: Attack, ms: number): Promise<void> => {
      const { name, relaxes } = attack
      const now: Underway = { name, relaxes, start: performance.now(), end: Number.POSITIVE_INFINITY }
      underway.push(now)
      const seedOf = random(1_000_000_000)
      const parts = { town, marks, verdicts, stalls, limits, refusals, durationMs: ms, random: createRandom(seedOf) }
      const { arms, disarm } = arm(parts)
      const running = attack.run(arms)
      running.catch((error: unknown) => verdicts.fail('alive', `the attack failed: ${String(error)}`, now.start))
      await Promise.race([running.catch(() => undefined), pause(ms)])
      disarm()
      await Promise.race([running.catch(() => undefined), pause(strayMs)])
      now.end = performance.now()
    }

    const isNormal = async (from: number): Promise<boolean> => {
      if (watch.running() > 0) return false
      const samples = honest.since(Math.max(from, performance.now() - steadyMs))
      if (samples.some(({ ok }) => !ok) || samples.length < perSecond / 4) return false
      if (quantile(latencies(samples), 0.95) > Math.max(busyMs, 3 * usual)) return false
      return (await town.everywhere(leftBehind)).length === 0
    }

    const recover = async (patienceMs: number): Promise<number | null> => {
      const from = performance.now()
      let told = false
      for (; performance.now() - from < patienceMs; await pause(100)) {
        if (await isNormal(from).catch(() => false)) return performance.now() - from
        if (performance.now() - from < recoveryMs || told) continue
        told = true
        await tellLate(from)
      }
      return null
    }

    const tellLate = async (from: number): Promise<void> => {
      const left = (await town.everywhere(leftBehind).catch(() => [])).map(({ what }) => String(what))
      if (left.length > 0) verdicts.fail('leftovers', left.join(', '), from - recoveryMs)
      const late = honest.since(performance.now() - steadyMs)
      const p95 = Math.round(quantile(latencies(late), 0.95))
      const failed = late.filter(({ ok }) => !ok).length
      const text = `${watch.running()} statements of attackers, ${failed} honest failures, p95 ${p95} ms`
      verdicts.fail('recovery', `${text}, ${honest.outstanding()} outstanding`, from - 1)
    }

    const checkLog = (): void => {
      const bad = town.server.lines().filter((line) => /request \S+ failed|unhandled|uncaught/i.test(line))
      const since = performance.now() - recoveryMs
      for (const line of bad) verdicts.fail('coded', `log: ${line.slice(0, 300)}`, since)
      if (town.server.exitCode() === null) return
      verdicts.fail('alive', town.server.lines().slice(-5).join('\n'), since)
    }

    return {
      town,
      attacks: allAttacks(standing).filter(({ endsSessions = false }) => !endsSessions || !town.missesEnds),
      verdicts,
      refusals,
      alone: async (ms) => {
        const from = performance.now()
        watch.forget()
        await pause(ms)
        const samples = await honest.settled(from)
        usual = quantile(latencies(samples), 0.95)
        return { samples, heard: streams.since(from), worst: watch.worst() }
      },
      assault: async (attacks, wantedMs, patienceMs = recoveryMs + 100) => {
        const ms = Math.max(wantedMs, ...attacks.map(({ leastMs = 0 }) => leastMs))
        const from = performance.now()
        watch.forget()
        await Promise.all(attacks.map((attack) => run(attack, ms)))
        const [sampling, until] = [honest.settled(from), performance.now()]
        const recovered = await recover(patienceMs)
        const samples = await sampling
        checkLog()
        const heard = streams.since(from).filter(({ due }) => due <= until)
        const names = attacks.map(({ name }) => name)
        return { names, samples, heard, worst: watch.worst(), recoveryMs: recovered }
      },
      audit: async () => {
        await Promise.all([honest.stop(), streams.stop()])
        await watch.stop()
        await audit(town, honest, prefix, verdicts)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Acknowledged writes exist once, refused ones do not exist, and no other write exists twice. */
async function audit({ admin }: Town, { written }: Honest, prefix: string, { fail }: Verdicts): Promise<void> {
  const rows = await admin('select token, count(*)::int as count from ledger where token like $1 group by token', [
    `${prefix}-%`,
  ])
  const now = performance.now()
  const found = new Map(rows.map(({ token, count }) => [String(token), Number(count)]))
  for (const token of written.kept)
    if (found.get(token) !== 1) fail('kept', `${token} is there ${found.get(token) ?? 0} times`, now)
  for (const token of written.refused) if (found.has(token)) fail('undone', `${token} was refused and is there`, now)
  for (const token of written.unknown) if ((found.get(token) ?? 0) > 1) fail('kept', `${token} is there twice`, now)
}
