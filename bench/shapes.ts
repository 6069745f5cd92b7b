import { openClient, serverOf } from '../runtime/db/connect/server.ts'
import { startupSettings } from '../runtime/db/connect/startup.ts'
import { addShapes, blogSize, createBlog } from './blog/data.ts'
import { caller } from './blog/operations.ts'
import { shapes, type Shape } from './shapes/shapes.ts'
import { summaryOf, type PlanNode } from './shapes/plan.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'
import { compileOnce, createTranslator } from './translate/translate.ts'

/**
 * Wide and deep documents: what they are translated to, how long Postgres plans and runs it, and, by `explain`, which
 * indexes serve it under row-level security. A table that is read from end to end although an index could serve is
 * marked.
 *
 * --scale 1 --runs 9 --pg 18 --json FILE
 */
const options = readOptions()
const major = options.number('pg', 18) === 15 ? 15 : 18
const size = blogSize(options.number('scale', 1))
const runs = Math.min(options.number('runs', 9), 9)

interface Explained {
  readonly 'Planning Time': number
  readonly 'Execution Time': number
  readonly Plan: PlanNode
}

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const db = await createBlog(major, size)
  later(db.drop)
  await addShapes(db)
  const translator = createTranslator(await compileOnce(db.ownerUrl), 'authenticated')
  const client = await openClient(serverOf(db.url, startupSettings(['public'], 60_000)))
  later(() => client.end())
  await client.query('set role authenticated')
  await client.query("select set_config('request.jwt.claims', $1, false)", [JSON.stringify({ sub: String(caller) })])

  const figures: Record<string, number> = {}
  const measure = async ({ name, document, variables, indexed }: Shape): Promise<Row> => {
    const [statement] = translator.translate(document, variables).bound
    if (statement === undefined) throw new Error(`${name} has no statement`)
    const { text } = statement
    const explained: Explained[] = []
    for (let run = 0; run < runs; run += 1) {
      const asked = `explain (analyze, format json) ${text}`
      const { rows } = await client.query(asked, [...statement.values])
      const [only] = (rows[0] as { readonly 'QUERY PLAN': readonly Explained[] })['QUERY PLAN']
      if (only !== undefined) explained.push(only)
    }
    const [first] = explained
    if (first === undefined) throw new Error(`${name} was not explained`)
    const plan = summaryOf(first.Plan)
    const planning = median(explained.map((one) => one['Planning Time']))
    const execution = median(explained.map((one) => one['Execution Time']))
    figures[`shapes.${name}.planningMs`] = planning
    figures[`shapes.${name}.executionMs`] = execution
    return {
      shape: name,
      'SQL kB': figure(text.length / 1_000),
      'plan ms': figure(planning),
      'run ms': figure(execution),
      indexes: plan.indexes,
      'read whole': plan.scanned === '' || !indexed ? plan.scanned : `! ${plan.scanned}`,
      'sorted rows': plan.sorted,
      'rows removed': plan.removed,
    }
  }
  const rows: Row[] = []
  for (const shape of shapes) rows.push(await measure(shape))
  printTable(`Wide and deep shapes, PostgreSQL ${major}, medians of ${runs}`, rows)
  await writeRecord({ bench: 'shapes', figures, versions: { postgres: String(major) } }, options.text('json'))
})
