import { json, type Outcome } from '../../auth/call/call.ts'
import type { LiveObservation } from '../../contract/observations.ts'
import { namesOf } from '../../contract/facts.ts'
import { groupBy } from '../../lib/steps.ts'
import type { LiveFigures, AdminParts, OwnerCall } from './call.ts'

/** GET /live */
export async function getLive(_call: OwnerCall, { live }: AdminParts): Promise<Outcome> {
  return json<LiveFigures>(sumOf(await live()))
}

/** The sum over several workers. */
function sumOf(all: readonly LiveObservation[]): LiveFigures {
  return {
    streams: sum(all.map(({ streams }) => streams)),
    sockets: sum(all.map(({ sockets }) => sockets)),
    watches: sum(all.map(({ watches }) => watches)),
    waiting: sum(all.map(({ waiting }) => waiting)),
    runs: groups(
      all.flatMap(({ runs }) => runs),
      ({ reason, result }) => `${reason} ${result}`,
    ).map(([{ reason, result }, counted]) => ({ reason, result, count: sum(counted.map(({ count }) => count)) })),
    refused: groups(
      all.flatMap(({ refused }) => Object.entries(refused)),
      ([limit]) => limit,
    ).map(([[limit], counted]) => ({ limit, count: sum(counted.map(([, count]) => count)) })),
    lag: lagOf(all.flatMap(({ lags }) => lags)),
    tables: groups(
      all.flatMap(({ tables }) => tables),
      ({ relation }) => relation,
    ).map(([{ relation }, watches]) => {
      const { schema, name } = namesOf(relation)
      return {
        schema,
        name,
        watches: sum(watches.map(({ watches }) => watches)),
        // Every worker receives each change.
        changes: Math.max(...watches.map(({ changes }) => changes)),
        unheard: Math.min(...watches.map(({ unheard }) => unheard)),
      }
    }),
    faults: [...new Set(all.flatMap(({ fault }) => fault ?? []))],
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** By key, in order, each with its first. */
const groups = <T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly [T, readonly T[]])[] =>
  [...groupBy(items, keyOf)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, group]) => (group[0] === undefined ? [] : [[group[0], group] as const]))

function lagOf(lags: readonly number[]): LiveFigures['lag'] {
  const sorted = lags.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return sorted.length === 0 ? null : { answers: sorted.length, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) }
}
