import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'lossless-json'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { serveBuilt, type Served } from './served.ts'
import {
  createTestService,
  revisionSource,
  type Answer,
  type AskedService,
  type TestServiceOptions,
} from './service.ts'
import type { Standing } from './standing.ts'
import { chosenTopology, openChosen } from './topologies.ts'

/** A built service of a topology, asked over HTTP as anybody. */
export interface HttpService extends Pick<AskedService, 'graphql'> {
  /** How many reads replicas have answered. */
  readonly byReplicas: () => Promise<number>
  readonly stop: () => Promise<unknown>
}

const patienceMs = 30_000

/** The first requests are to go where the later ones go. */
const untilReplicas = async ({ url, said }: Served): Promise<void> => {
  for (const until = performance.now() + patienceMs; ; await pause(50)) {
    const { replicas } = (await (await fetch(`${url}/readyz`)).json()) as { replicas: { serving: number } | null }
    if (replicas == null || replicas.serving > 0) return
    if (performance.now() > until) throw new Error(`No replica serves: ${said().join('\n')}`)
  }
}

export async function serveStanding(
  standing: Standing,
  environment: Readonly<Record<string, string>> = {},
): Promise<HttpService> {
  const { host } = standing
  const served = await serveBuilt(standing, { METRICS: 'on', ...standing.environment, ...environment }, host)
  await untilReplicas(served).catch(async (error: unknown) => {
    await served.stop()
    throw error
  })
  const graphql: HttpService['graphql'] = async (query, ask = {}) => {
    const { role = 'anon', claims, variables = {}, operationName, extensions } = ask
    const token = served.tokenOf({ role, ...claims })
    const response = await fetch(`${served.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: served.anon, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: stringify({ query, variables, operationName, extensions }) ?? '',
    })
    return (await response.json()) as Answer
  }
  const byReplicas = async (): Promise<number> => {
    const text = await (await fetch(`${served.url}/metrics`, { headers: { apikey: served.service } })).text()
    return Number(/^catalograph_reads_total\{server="replica"\} (\d+)/m.exec(text)?.[1] ?? 0)
  }
  return { graphql, byReplicas, stop: served.stop }
}

/** The usual service of tests, or where a run has a topology the built one in it. */
export async function openAsked(
  options: Pick<TestServiceOptions, 'sql' | 'major' | 'isolated' | 'statementTimeout'>,
): Promise<AskedService> {
  if (chosenTopology() === null) return createTestService(options)
  const { sql = '', major, statementTimeout = 30_000 } = options
  const standing = await openChosen({ sql, ...(major !== undefined && { major }) })
  const served = await serveStanding(standing, { STATEMENT_TIMEOUT_MS: String(statementTimeout) })
  const revision: AskedService['revision'] = async () => {
    const database = openDatabase({ url: standing.url, schemas: ['public'], poolSize: 1, statementTimeout })
    return revisionSource(database.query, ['public'])().finally(database.close)
  }
  return {
    db: standing,
    graphql: served.graphql,
    revision,
    close: () => served.stop().then(standing.drop),
  }
}
