import { createCompiler, type Compiled } from '../../compiler/compile.ts'
import { createFollower } from '../../compiler/following/serving/followed-source.ts'
import { openDatabase, type Database } from '../../runtime/db/pool/pool.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { createService } from '../../compiler/additions/service.ts'
import type { ServiceParts } from '../../runtime/graphql/serve.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { watchHold } from '../../test/support/held.ts'
import { withCpu } from '../support/cpu.ts'
import type { SchemaChange } from './tables.ts'

export interface Effort {
  /** Measured changes of each kind. */
  readonly rounds: number
  /** Changes between the first and the last measurement of the heap. */
  readonly changes: number
}

/** Milliseconds, one value per round; CPU is of the change and two requests. */
export interface Series {
  readonly changed: readonly number[]
  readonly warm: readonly number[]
  /** The longest blocking of the event loop before the first answer. */
  readonly held: readonly number[]
  readonly serverCpu: readonly number[]
  readonly databaseCpu: readonly number[]
  /** The server's time for diagnostics after the answer, and its longest blocking. */
  readonly diagnosticsCpu: readonly number[]
  readonly diagnosticsHeld: readonly number[]
}

export interface Followed {
  readonly tables: number
  readonly fullMs: number
  /** The longest blocking of the event loop in between. */
  readonly fullHeldMs: number
  readonly series: Readonly<Record<string, Series>>
  /** Megabytes after garbage collection: before the changes, after half of them, after all. */
  readonly heapMb: readonly number[]
}

interface Served {
  readonly database: Database
  readonly ask: () => Promise<void>
  /** Computes the diagnostics, as the product does after the waiting requests. */
  readonly tell: () => Promise<unknown>
}

const request = {
  query: '{ tab_7Collection(first: 3) { edges { node { id c0 c1 } } } }',
  operationName: null,
  variables: {},
  extensions: {},
  queryOnly: false,
}

function serve(db: TestDatabase): Served {
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 2 })
  const { query } = database
  const [version, counter] = [versionExpression, counterExpression]
  const compiler = createCompiler({ query, schemas: ['public'], version, counter })
  let tell: Served['tell'] = () => Promise.resolve()
  const report = (compiled: Compiled): void => {
    tell = compiled.diagnose
  }
  const source = createFollower({ compiler, query, version, guarded: true, report })
  return { database, ask: askFrom({ database, source }), tell: () => tell() }
}

/** Reads `tab_7`, which no change touches. */
export function askFrom(parts: ServiceParts): () => Promise<void> {
  const service = createService(parts)
  return async () => {
    const { outcome, body } = await service.serve(request, { role: 'anon', claims: '{"role":"anon"}' })
    if (outcome !== 'ok') throw new Error(body.toString())
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const timedHold = async (ask: () => Promise<void>): Promise<{ readonly changed: number; readonly heldMs: number }> => {
  let changed = 0
  const { heldMs } = await watchHold(async () => {
    changed = await timed(ask)
    return ''
  })
  return { changed, heldMs }
}

const heapMb = (): number => {
  for (let pass = 0; pass < 2; pass += 1) globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

type Change = (step: number) => Promise<unknown>

const changeBy =
  (db: TestDatabase, { sql }: SchemaChange): Change =>
  (step) =>
    db.query(sql[step % 2] ?? '')

/** A first round of each change, for caches and compiled code, is not counted. */
const uncounted = 4

async function measureChange(change: Change, { ask, tell }: Served, rounds: number, postgres: number): Promise<Series> {
  const series = {
    changed: [] as number[],
    warm: [] as number[],
    held: [] as number[],
    serverCpu: [] as number[],
    databaseCpu: [] as number[],
    diagnosticsCpu: [] as number[],
    diagnosticsHeld: [] as number[],
  }
  for (let round = -uncounted; round < rounds; round += 1) {
    const { value, cpu } = await withCpu({ postgres }, async () => {
      const before = process.cpuUsage()
      await change(round + uncounted)
      const { changed, heldMs } = await timedHold(ask)
      const warm = await timed(ask)
      const { user, system } = process.cpuUsage(before)
      return { changed, warm, held: heldMs, server: user + system }
    })
    const diagnosing = await watchHold(async () => {
      await tell()
      return ''
    })
    if (round < 0) continue
    series.diagnosticsCpu.push(diagnosing.cpuMs)
    series.diagnosticsHeld.push(diagnosing.heldMs)
    series.changed.push(value.changed)
    series.warm.push(value.warm)
    series.held.push(value.held)
    series.serverCpu.push(value.server / 1_000)
    series.databaseCpu.push(cpu.postgres / 1_000)
  }
  return series
}

async function watchHeap(change: Change, ask: Served['ask'], changes: number): Promise<readonly number[]> {
  const heap = [heapMb()]
  for (let step = 0; step < changes; step += 1) {
    await change(step)
    await ask()
    if (step + 1 === Math.floor(changes / 2) || step + 1 === changes) heap.push(heapMb())
  }
  return heap
}

/** @param postgres the postmaster */
export async function measureFollowing(
  db: TestDatabase,
  tables: number,
  kinds: readonly SchemaChange[],
  { rounds, changes }: Effort,
  postgres: number,
): Promise<Followed> {
  const served = serve(db)
  const { ask, database } = served
  try {
    const { changed: fullMs, heldMs: fullHeldMs } = await timedHold(ask)
    const series: Record<string, Series> = {}
    for (const kind of kinds) series[kind.name] = await measureChange(changeBy(db, kind), served, rounds, postgres)
    const [first] = kinds
    return {
      tables,
      fullMs,
      fullHeldMs,
      series,
      heapMb: first === undefined ? [] : await watchHeap(changeBy(db, first), ask, changes),
    }
  } finally {
    await database.close()
  }
}
