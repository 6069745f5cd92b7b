import { setTimeout as pause } from 'node:timers/promises'
import { httpRequest } from '../support/http-client.ts'
import { arrive, saturate } from '../support/load.ts'
import { quantile } from '../support/statistics.ts'
import type { Case } from './cases.ts'
import type { Plan } from './measure.ts'
import type { Place } from './place.ts'

/** The duration of GraphQL requests during sign-ins, and without them. Milliseconds. */
export interface Company {
  readonly idle: readonly Latency[]
  readonly signingIn: readonly Latency[]
}

interface Latency {
  readonly p50: number
  readonly p99: number
}

const query = `{ postCollection(first: 5, filter: {status: {eq: PUBLISHED}}, orderBy: [{publishedAt: DescNullsLast}]) {
  edges { node { id title publishedAt author { username } } } } }`

const perSecond = 200

/** Both alternately; sign-ins queue up while GraphQL is measured, and somewhat longer on both ends. */
export async function measureCompany(place: Place, signIns: Case, plan: Plan): Promise<Company> {
  const { port } = place.ours
  const request = httpRequest({ path: '/graphql/v1', headers: { apikey: place.anon }, body: { query } })
  const good = ({ body }: { readonly body: Buffer }): boolean => !body.includes('"errors"')
  const ask = async (): Promise<Latency> => {
    const sample = await arrive({ port, connections: 32, ms: plan.ms, perSecond, next: () => request, good })
    if (sample.failed > 0) throw new Error(`${sample.failed} GraphQL requests failed`)
    return { p50: quantile(sample.latencies, 0.5), p99: quantile(sample.latencies, 0.99) }
  }
  const next = signIns.sides.find(({ name }) => name === 'ours')?.next ?? (() => request)
  const [idle, signingIn]: [Latency[], Latency[]] = [[], []]
  await ask()
  for (let round = 0; round < plan.rounds; round += 1) {
    idle.push(await ask())
    const queue = saturate({ port, connections: signIns.connections, ms: plan.ms + 500, next })
    await pause(250)
    signingIn.push(await ask())
    await queue
  }
  return { idle, signingIn }
}
