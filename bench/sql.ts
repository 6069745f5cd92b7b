import pg from 'pg'
import { openClient, serverOf } from '../runtime/db/connect/server.ts'
import { optionsText, startupSettings } from '../runtime/db/connect/startup.ts'
import { openDatabase } from '../runtime/db/pool/pool.ts'
import { addedOperations } from './blog/added.ts'
import type { AdditionOperation } from './blog/additions.ts'
import { caller, operations } from './blog/operations.ts'
import { addValues, allValues, blogSize, createBlog } from './blog/data.ts'
import { handWritten, type HandWritten } from './blog/sql.ts'
import { createAsk } from './limit/pipeline.ts'
import { withCleanup } from './support/cleanup.ts'
import { cpuTime } from './support/cpu.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median, quantile, ratios, spreadText } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'
import { compileOnce, createTranslator } from './translate/translate.ts'

/**
 * Our SQL against the best that we could write by hand, under row-level security, on one connection each: first the
 * prepared statement alone, then everything that a request sends (settings, guards and the statement, in one round
 * trip). The measure is the CPU time of the backend, which a busy machine disturbs least; the time of the round trip
 * stands beside it.
 *
 * --rounds 10 --runs 200 (statements of a slice, at most half a second of them) --scale 1
 * --values 100000 (rows of a table of values) --only key,page --pg 18 --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const rounds = options.number('rounds', 10)
const runs = options.number('runs', 200)
const major = options.number('pg', 18) === 15 ? 15 : 18
const size = blogSize(options.number('scale', 1))

type Run = () => Promise<unknown>
interface Series {
  /** Microseconds of the database's CPU per run, one figure per round. */
  readonly cpu: number[]
  /** Median microseconds of a run, one figure per round. */
  readonly time: number[]
}

const claims = JSON.stringify({ sub: String(caller), role: 'authenticated', aud: 'authenticated' })
const draw = (limit: number): number => 1 + Math.floor(Math.random() * limit)

/** Statements that read a whole table are repeated less often; one run is representative. */
const longestMs = 500

/** A short run does not need stable figures. */
const mostWarmUps = Math.min(50, 4 * runs)
const leastWarmUps = Math.min(8, mostWarmUps)

const slice = async (run: Run, database: number, into: Series): Promise<void> => {
  const times: number[] = []
  const before = cpuTime(database)
  const end = performance.now() + longestMs
  for (let started = performance.now(); times.length < runs && started < end; started = performance.now()) {
    await run()
    times.push((performance.now() - started) * 1_000)
  }
  into.cpu.push((cpuTime(database) - before) / times.length)
  into.time.push(quantile(times, 0.5))
}

const compare = async (ours: Run, theirs: Run, database: number): Promise<readonly [Series, Series]> => {
  const [our, their]: [Series, Series] = [
    { cpu: [], time: [] },
    { cpu: [], time: [] },
  ]
  // The first executions are planned one by one before Postgres settles on a generic plan (manual, PREPARE).
  const end = performance.now() + longestMs
  for (let warmUp = 0; warmUp < leastWarmUps || (warmUp < mostWarmUps && performance.now() < end); warmUp += 1)
    await ours().then(theirs)
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) await slice(ours, database, our)
    await slice(theirs, database, their)
    if (round % 2 === 1) await slice(ours, database, our)
  }
  return [our, their]
}

interface Prepared {
  readonly name: string
  readonly text: string
}

const onClient = (client: pg.Client, { name, text }: Prepared, values: () => readonly (string | null)[]): Run => {
  return () => client.query({ name, text, values: [...values()], rowMode: 'array' })
}

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const db = await createBlog(major, size)
  later(db.drop)
  await addValues(db, options.number('values', allValues))
  const compiled = await compileOnce(db.ownerUrl)
  const { version } = compiled.revision
  const translator = createTranslator(compiled, 'authenticated')
  const startup = startupSettings(['public'], 0)
  const server = serverOf(db.url, startup, { PGSSLMODE: 'disable' })
  const connect = async (): Promise<pg.Client> => {
    const client = await openClient(server)
    later(() => client.end())
    await client.query('set role authenticated')
    await client.query("select set_config('request.jwt.claims', $1, false)", [claims])
    return client
  }
  const [ourClient, theirClient] = [await connect(), await connect()]
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 1 })
  later(database.close)
  const pool = new pg.Pool({ connectionString: db.url, options: optionsText(startup), max: 1, idleTimeoutMillis: 0 })
  later(() => pool.end())
  const ask = createAsk(pool)

  const rows: Row[] = []
  const figures: Record<string, readonly number[]> = {}
  const report = (operation: string, what: string, [our, their]: readonly [Series, Series]): void => {
    rows.push({
      operation,
      what,
      'CPU µs ours / by hand': `${figure(median(our.cpu))} / ${figure(median(their.cpu))}`,
      'CPU ×': spreadText(ratios(our.cpu, their.cpu)),
      'time µs ours / by hand': `${figure(median(our.time))} / ${figure(median(their.time))}`,
      'time ×': spreadText(ratios(our.time, their.time)),
    })
    for (const [name, series] of Object.entries({ ours: our, byHand: their })) {
      figures[`sql.${operation}.${what}.${name}.cpu`] = series.cpu
      figures[`sql.${operation}.${what}.${name}.time`] = series.time
    }
  }
  const measure = async (
    { name, document, variables, writes }: Pick<AdditionOperation, 'name' | 'document' | 'variables' | 'writes'>,
    hand: HandWritten,
  ): Promise<void> => {
    const bound = () => translator.translate(document, variables(draw, size)).bound
    const [statement, ...others] = bound()
    if (statement === undefined) throw new Error(`${name} has no statement`)
    const byHand = () => hand.values(variables(draw, size))
    const ours = onClient(ourClient, statement, () => bound()[0]?.values ?? [])
    const theirs = onClient(theirClient, hand, byHand)
    // Several of them only make sense within one transaction.
    if (others.length === 0) report(name, 'statement', await compare(ours, theirs, postgres.pid))
    if (hand.alike !== undefined) {
      const alike = onClient(theirClient, { name: `${hand.name}-alike`, text: hand.alike }, byHand)
      report(name, 'statement, cursors alike', await compare(ours, alike, postgres.pid))
    }
    const readOnly = name !== 'insert' && writes !== true
    const request: Run = () =>
      database.run({ caller: { role: 'authenticated', claims }, version, readOnly, statements: bound() })
    const question: Run = () => ask('authenticated', claims, { ...hand, values: byHand() })
    report(name, 'request', await compare(request, question, postgres.pid))
  }
  const isChosen = ({ name }: { readonly name: string }): boolean => only?.includes(name) ?? true
  for (const operation of operations.filter(isChosen)) {
    const hand = handWritten[operation.name]
    if (hand !== undefined) await measure(operation, hand)
  }
  for (const operation of addedOperations.filter(isChosen)) await measure(operation, operation.hand)
  printTable(`SQL against hand-written SQL, PostgreSQL ${major}, medians of ${rounds} rounds`, rows)
  await writeRecord({ bench: 'sql', figures, versions: { postgres: String(major) } }, options.text('json'))
})
