import { quantile } from '../../../bench/support/statistics.ts'
import type { ClusterSource } from '../cluster.ts'
import { createRandom, shuffled, type Random } from '../random.ts'
import type { Attack } from './arms.ts'
import type { Problem } from './checks.ts'
import { endTown } from './ending.ts'
import { graceMs, latencies, openStage, type Measured, type Stage } from './stage.ts'

export interface SiegeOptions {
  readonly source: ClusterSource
  readonly seed: number
  readonly seconds: number
  /** Names of attacks, for those who look for one fault; null: all of them. */
  readonly only: readonly string[] | null
  /** So many attacks at once at most. */
  readonly together: number
  readonly say: (line: string) => void
}

export interface Siege {
  readonly problems: readonly Problem[]
  readonly assaults: number
  readonly requests: number
}

const aloneMs = 2_000
/** A generous 90th percentile of honest requests on a machine that is not too busy. */
const calmMs = 250
const mostTries = 30
/** Whatever one assault did to the server is not to be put down to the next. */
const patienceMs = 30_000
/** The time that the end needs: a grace period, a second and the audit. */
const endingMs = 4_000

/** One attack or several at once, each of them once before any of them comes again. */
export function* hands(
  attacks: readonly Attack[],
  together: number,
  random: Random,
): Generator<readonly Attack[], never> {
  for (;;) {
    const deck = [...shuffled(attacks, random)]
    while (deck.length > 0) {
      const [first] = deck
      const count = first?.alone === true ? 1 : 1 + random(together)
      const hand = deck.splice(0, 1)
      for (let at = 0; hand.length < count && at < deck.length;) {
        if (deck[at]?.alone === true) at += 1
        else hand.push(...deck.splice(at, 1))
      }
      yield hand
    }
  }
}

const described = ({ samples, heard, worst }: Measured): string => {
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(latencies(samples), share).toFixed(0))
  const live = `${heard.length} heard, p99 ${quantile(latencies(heard), 0.99).toFixed(0)} ms`
  const failed = samples.filter(({ ok }) => !ok).length
  const server = `${worst.memory.toFixed(0)} MB, loop ${worst.loop.toFixed(0)} ms, ${worst.marks} marks`
  return `${samples.length} honest, ${failed} failed, p50 ${p50} ms, p99 ${p99} ms, ${live}, ${server}`
}

/** Honest traffic alone must be served well, or the machine is too busy to show which side is at fault. */
async function settleDown(stage: Stage, say: SiegeOptions['say']): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const alone = await stage.alone(aloneMs)
    say(`alone: ${described(alone)}`)
    if (quantile(latencies(alone.samples), 0.9) < calmMs) return stage.verdicts.begin()
  }
  throw new Error('The machine is too busy for a siege: honest callers are served badly when they are alone.')
}

async function play(stage: Stage, options: SiegeOptions): Promise<Omit<Siege, 'problems'>> {
  const { seed, only, together, say } = options
  const random = createRandom(seed + 2)
  const chosen = stage.attacks.filter(({ name }) => only?.includes(name) ?? true)
  let [assaults, requests] = [0, 0]
  await settleDown(stage, say)
  const until = performance.now() + options.seconds * 1_000 - endingMs
  for (const hand of hands(chosen, together, random)) {
    if (performance.now() > until) break
    const assault = await stage.assault(hand, 2_500 + random(2_500), patienceMs)
    assaults += 1
    requests += assault.samples.length
    const recovery = assault.recoveryMs === null ? 'not recovered' : `recovered in ${assault.recoveryMs.toFixed(0)} ms`
    say(`${assault.names.join(' + ')}: ${described(assault)}, ${recovery}`)
  }
  return { assaults, requests }
}

/** Besieges a town for that time; whatever did not hold is a problem. */
export async function besiege(options: SiegeOptions): Promise<Siege> {
  const { source, seed, say } = options
  const stage = await openStage({ source, seed, tell: (line) => say(`  ${line}`) })
  const { verdicts, town } = stage
  try {
    const played = await play(stage, options)
    await stage.audit()
    const { code, ms, exitCode, running } = await endTown(town)
    say(`SIGTERM: ${code ?? 'no answer'}, ended after ${ms.toFixed(0)} ms with ${exitCode}`)
    const fail = (detail: string): void => verdicts.fail('ending', detail, performance.now())
    if (code !== 'SERVER_STOPPING') fail(`answered ${code ?? 'by a closed connection'}`)
    if (exitCode !== 0 || ms > graceMs + 1_000) fail(`${exitCode} after ${ms.toFixed(0)} ms`)
    if (running > 0) fail('the statement goes on')
    for (const [name, count] of Object.entries(verdicts.excused())) say(`excused: ${name}, ${count} times`)
    say(`refusals of attackers: ${JSON.stringify(Object.fromEntries(stage.refusals))}`)
    return { ...played, problems: verdicts.problems() }
  } finally {
    await stage.close()
  }
}
