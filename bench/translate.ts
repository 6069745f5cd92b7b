import type { Compiled } from '../compiler/compile.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'
import { createTables, documentOf, levels, type Levels } from './support/tables.ts'
import { compileOnce, createTranslator, type Translator } from './translate/translate.ts'

/**
 * Translation: from a document's text and variables to bound SQL, in one process and without Postgres. `first types`:
 * the text is new and so are the types it is about; `first sight`: only the text is new; `warm`: the text is known, so
 * it is looked up and values are bound. Beside them a full compile, by stage.
 *
 * --tables 20,200,2000 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [20, 200, 2_000])

const timed = (work: () => unknown): number => {
  const started = performance.now()
  work()
  return performance.now() - started
}

const samples = 12
const textsPerTable = 6
const warmRuns = 200
const warmBatches = 40

/** Tables spread over the schema; the first few refer to themselves. */
const tablesOf = (size: number): readonly number[] =>
  Array.from({ length: samples }, (_, index) => 8 + Math.floor((index * (size - 9)) / (samples - 1)))

let mark = 0
const variables = { c0: 'a value' }
const translateNew = (translator: Translator, table: number, depth: Levels): number => {
  mark += 1
  const document = documentOf(table, depth, mark)
  return timed(() => translator.translate(document, variables))
}

const warmOf = (translator: Translator, document: string): number => {
  const batch = (): void => {
    for (let run = 0; run < warmRuns; run += 1) translator.translate(document, variables)
  }
  batch()
  return median(Array.from({ length: warmBatches }, () => (timed(batch) / warmRuns) * 1_000))
}

interface Times {
  readonly view: number
  readonly firstTypes: number
  readonly firstSight: number
  readonly warm: number
}

const measure = (compiled: Compiled, size: number, depth: Levels): Times => {
  // Code is warm, the engine is new: what a server pays after each change of the schema.
  const translator = createTranslator(compiled, 'authenticated')
  const view = timed(() => translator.translate('{ __typename }', {}))
  const tables = tablesOf(size)
  const firstTypes = tables.map((table) => translateNew(translator, table, depth))
  const firstSight = tables.flatMap((table) =>
    Array.from({ length: textsPerTable }, () => translateNew(translator, table, depth)),
  )
  const warm = warmOf(translator, documentOf(tables[0] ?? 8, depth, 0))
  return { view, firstTypes: median(firstTypes), firstSight: median(firstSight), warm }
}

const rows: Row[] = []
const compileRows: Row[] = []
const figures: Record<string, number> = {}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  for (const size of sizes) {
    const db = await createTables(18, size)
    const [cold, compiled] = [await compileOnce(db.ownerUrl), await compileOnce(db.ownerUrl)]
    await db.drop()
    const total = (one: Compiled): number => one.timings.reduce((sum, { ms }) => sum + ms, 0)
    compileRows.push({
      tables: size,
      'first compile ms': figure(total(cold)),
      'second ms': figure(total(compiled)),
      ...Object.fromEntries(compiled.timings.map(({ stage, ms }) => [`${stage} ms`, figure(ms)])),
    })
    figures[`compile.${size}.firstMs`] = total(cold)
    for (const depth of levels) measure(compiled, size, depth)
    for (const depth of levels) {
      const times = measure(compiled, size, depth)
      rows.push({
        tables: size,
        levels: depth,
        'view ms': figure(times.view),
        'first types ms': figure(times.firstTypes),
        'first sight ms': figure(times.firstSight),
        'warm µs': figure(times.warm),
      })
      for (const [name, time] of Object.entries(times)) figures[`translate.${size}.${depth}.${name}`] = time
    }
  }
})

printTable('Full compile of tables of 20 columns, in one process', compileRows)
printTable('Translation, medians', rows)
await writeRecord({ bench: 'translate', figures }, options.text('json'))
