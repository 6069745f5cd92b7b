import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { stringify } from 'lossless-json'
import { compileCommand } from '../../compiler/commands/compile.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { documentsIn, readDocumentFile } from '../../runtime/graphql/compiled/read-document.ts'
import { createCompiledService } from '../../runtime/graphql/compiled/serve.ts'
import { createCompiledSource } from '../../runtime/graphql/compiled/source.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { runCommand } from './command.ts'
import type { TestDatabase } from './database.ts'
import { serveBuilt, type Served } from './served.ts'
import {
  askedAs,
  createTestService,
  revisionSource,
  type Answer,
  type AskedService,
  type TestServiceOptions,
} from './service.ts'
import type { Standing } from './standing.ts'
import { chosenTopology, openChosen } from './topologies.ts'

/** A built service of a topology, for requests over HTTP by any caller. */
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
  options: readonly string[] = [],
): Promise<HttpService> {
  const { host } = standing
  const served = await serveBuilt(standing, { METRICS: 'on', ...standing.environment, ...environment }, host, options)
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

type AskedOptions = Pick<TestServiceOptions, 'sql' | 'major' | 'isolated' | 'superuser' | 'statementTimeout'>

/** The usual service of tests, or where a run has a topology the built one in it. */
export const openAsked = (options: AskedOptions): Promise<AskedService> => openAlong(options, null)

export interface AskedBothWays extends AskedService {
  /** Of a service that has nothing but compiled documents. */
  readonly alone: AskedService['graphql']
}

/** The same, and beside it one that answers these documents alone, which are compiled for the roles. */
export async function openAskedBothWays(
  options: AskedOptions,
  documents: readonly string[],
  roles: readonly string[],
): Promise<AskedBothWays> {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-asked-'))
  const compile = async ({ url, ownerUrl }: Pick<TestDatabase, 'url' | 'ownerUrl'>): Promise<string> => {
    const file = join(folder, 'documents.json')
    await writeFile(file, JSON.stringify(Object.fromEntries(documents.map((text) => [sha256Hex(text), text]))))
    const args = ['compile', '--documents', file, '--roles', roles.join(), '--out', folder]
    const environment = { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl }
    const { exitCode, noted } = await runCommand([compileCommand], args, { environment })
    if (exitCode !== 0) throw new Error(noted)
    return folder
  }
  const service = await openAlong(options, compile)
  const { alone, close } = service
  if (alone === null) throw new Error('it was asked for')
  return { ...service, alone, close: () => close().then(() => rm(folder, { recursive: true })) }
}

/** @param compile makes artifacts for a service that has nothing else; null: there is none */
async function openAlong(
  options: AskedOptions,
  compile: ((database: Pick<TestDatabase, 'url' | 'ownerUrl'>) => Promise<string>) | null,
): Promise<AskedService & { readonly alone: AskedService['graphql'] | null }> {
  const { sql = '', major, statementTimeout = 30_000 } = options
  if (chosenTopology() === null) {
    const service = await createTestService(options)
    if (compile === null) return { ...service, alone: null }
    const alone = serveAlone(service.db.url, await compile(service.db), statementTimeout)
    return { ...service, alone: alone.graphql, close: () => alone.close().then(service.close) }
  }
  const standing = await openChosen({ sql, ...(major !== undefined && { major }) })
  const environment = { STATEMENT_TIMEOUT_MS: String(statementTimeout) }
  const served = await serveStanding(standing, environment)
  const alone =
    compile === null
      ? null
      : await serveStanding(standing, environment, ['--artifacts', await compile(standing), '--only-compiled'])
  const revision: AskedService['revision'] = async () => {
    const database = openDatabase({ url: standing.url, schemas: ['public'], poolSize: 1, statementTimeout })
    return revisionSource(database.query, ['public'])().finally(database.close)
  }
  return {
    db: standing,
    graphql: served.graphql,
    alone: alone?.graphql ?? null,
    revision,
    close: async () => {
      await Promise.all([served.stop(), alone?.stop()])
      await standing.drop()
    },
  }
}

function serveAlone(
  url: string,
  folder: string,
  statementTimeout: number,
): { readonly graphql: AskedService['graphql']; readonly close: () => Promise<void> } {
  const database = openDatabase({ url, schemas: ['public'], poolSize: 4, statementTimeout })
  const source = createCompiledSource({ documents: documentsIn(folder), query: database.query, log: () => undefined })
  const service = createCompiledService({ database, source }, readDocumentFile)
  return {
    graphql: async (query, ask = {}) =>
      JSON.parse((await service.serve(...askedAs(query, ask))).body.toString()) as Answer,
    close: database.close,
  }
}
