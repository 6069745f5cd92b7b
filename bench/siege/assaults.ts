import type { Attack } from '../../test/support/siege/arms.ts'
import { latencies, type Assault, type Measured, type Stage } from '../../test/support/siege/stage.ts'
import { cpuTime } from '../support/cpu.ts'
import { figure, quantile } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'

/** Honest traffic alone, and then under an attack. */
export interface MeasuredAssault {
  readonly name: string
  readonly alone: Measured
  readonly under: Assault
  /** Of the server, in seconds. */
  readonly cpu: number
}

export interface Effort {
  readonly attackMs: number
  readonly aloneMs: number
}

/** The maximum wait for a server that cancels statements after half a minute. */
const patienceMs = 60_000

export async function measureAssault(stage: Stage, attack: Attack, effort: Effort): Promise<MeasuredAssault> {
  const alone = await stage.alone(effort.aloneMs)
  const before = cpuTime(stage.town.server.pid)
  const under = await stage.assault([attack], effort.attackMs, patienceMs)
  const cpu = (cpuTime(stage.town.server.pid) - before) / 1e6
  return { name: attack.name, alone, under, cpu }
}

const p = ({ samples }: Measured, share: number): number => quantile(latencies(samples), share)
/** Of live queries: a change, or the first answer of a new stream. */
const ofHeard = ({ heard }: Measured, name: string, share: number): number =>
  quantile(latencies(heard.filter((sample) => sample.name === name)), share)

const refused = ({ samples }: Measured): number => samples.filter(({ ok }) => !ok).length

/** Alone and under the attack, and how many times as long that is. */
const ofBoth = (alone: Measured, under: Measured, name: string): string => {
  const [before, after] = [ofHeard(alone, name, 0.99), ofHeard(under, name, 0.99)]
  return `${figure(before)} → ${figure(after)} (${figure(after / before)})`
}

export const assaultRow = ({ name, alone, under, cpu }: MeasuredAssault): Row => ({
  attack: name,
  'p50 alone': figure(p(alone, 0.5)),
  'p50 under': figure(p(under, 0.5)),
  'p99 alone': figure(p(alone, 0.99)),
  'p99 under': figure(p(under, 0.99)),
  'times p99': figure(p(under, 0.99) / p(alone, 0.99)),
  'change p99': ofBoth(alone, under, 'change'),
  'new stream p99': ofBoth(alone, under, 'new stream'),
  failed: `${refused(under)} of ${under.samples.length}`,
  'loop held, ms': figure(under.worst.loop),
  'health, ms': figure(under.worst.health),
  'resident MB': figure(under.worst.memory),
  'CPU s': figure(cpu),
  'back after, s': under.recoveryMs === null ? 'never' : figure(under.recoveryMs / 1_000),
})

export const assaultFigures = ({ name, alone, under, cpu }: MeasuredAssault): Readonly<Record<string, number>> => {
  const path = `siege.${name.replaceAll(/\W+/g, '-')}`
  return {
    [`${path}.alone.p50`]: p(alone, 0.5),
    [`${path}.alone.p99`]: p(alone, 0.99),
    [`${path}.under.p50`]: p(under, 0.5),
    [`${path}.under.p99`]: p(under, 0.99),
    [`${path}.change.alone.p99`]: ofHeard(alone, 'change', 0.99),
    [`${path}.change.under.p99`]: ofHeard(under, 'change', 0.99),
    [`${path}.stream.alone.p99`]: ofHeard(alone, 'new stream', 0.99),
    [`${path}.stream.under.p99`]: ofHeard(under, 'new stream', 0.99),
    [`${path}.failed`]: refused(under),
    [`${path}.loopMs`]: under.worst.loop,
    [`${path}.residentMb`]: under.worst.memory,
    [`${path}.cpuSeconds`]: cpu,
    [`${path}.recoveryMs`]: under.recoveryMs ?? -1,
  }
}
