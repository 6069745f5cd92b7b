import { runInNewContext } from 'node:vm'
import { setFlagsFromString } from 'node:v8'
import { afterAll, describe, test } from 'vitest'
import { createCompiler } from '../compiler/compile.ts'
import { createFollower } from '../compiler/follow.ts'
import { openDatabase, type Database } from '../runtime/db/pool.ts'
import { counterExpression, versionExpression } from '../runtime/db/version.ts'
import { createService, type GraphqlService } from '../runtime/graphql/serve.ts'
import { createDatabase, majors, type TestDatabase } from '../test/support/database.ts'

/**
 * What following the schema costs: a full compile, the first request after one table changed (median and worst of 15,
 * beside the same request warm), and the heap after garbage collection at the start, after half of the changes and
 * after all of them. BENCH_TABLES and BENCH_CHANGES change the sizes (20,500,2000 and 1000).
 */
const sizes = (process.env['BENCH_TABLES'] ?? '20,500,2000').split(',').map(Number)
const changes = Number(process.env['BENCH_CHANGES'] ?? 1_000)

const types = ['text', 'int8', 'numeric(12,2)', 'timestamptz', 'bool', 'jsonb', 'uuid', 'varchar(80)', 'date', 'float8']

/** Twenty columns, two of them foreign keys; some tables are referred to by many. */
const tableSql = (index: number): string => `create table tab_${index} (id bigserial primary key,
  a_id bigint references tab_${Math.floor(index / 2)}, b_id bigint references tab_${index < 20 ? 0 : index % 20},
  ${Array.from({ length: 17 }, (_, column) => `c${column} ${types[column % types.length]}`).join(', ')});
  grant select, insert, update, delete on tab_${index} to anon;`

async function createTables(db: TestDatabase, count: number): Promise<void> {
  const block = 50
  for (let from = 0; from < count; from += block) {
    const indexes = Array.from({ length: Math.min(block, count - from) }, (_, offset) => from + offset)
    await db.query(indexes.map(tableSql).join('\n'))
  }
  await db.query('vacuum analyze')
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const heapMb = (): string => {
  collect()
  collect()
  return (process.memoryUsage().heapUsed / 2 ** 20).toFixed(1)
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

interface Served {
  readonly database: Database
  readonly ask: () => Promise<void>
}

/** The whole path of a request, without HTTP. */
function serve(db: TestDatabase): Served {
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 2 })
  const { query } = database
  const compiler = createCompiler({ query, schemas: ['public'], version: versionExpression, counter: counterExpression })
  const source = createFollower({ compiler, query, version: versionExpression, guarded: true, report: () => undefined })
  const service = createService({ database, source })
  return { database, ask: () => request(service) }
}

async function request(service: GraphqlService): Promise<void> {
  const query = '{ tab_7Collection(first: 3) { edges { node { id c0 c1 } } } }'
  const asked = { query, operationName: null, variables: {}, extensions: {}, queryOnly: false }
  const { outcome, body } = await service.serve(asked, { role: 'anon', claims: '{"role":"anon"}' })
  if (outcome !== 'ok') throw new Error(body)
}

const change = (db: TestDatabase, step: number): Promise<unknown> =>
  db.query(step % 2 === 0 ? 'alter table tab_9 add column extra int' : 'alter table tab_9 drop column extra')

async function measure(tables: number, db: TestDatabase): Promise<Record<string, string | number>> {
  await createTables(db, tables)
  const { ask, database } = serve(db)
  try {
    const full = await timed(ask)
    for (let warmUp = 0; warmUp < 6; warmUp += 1) {
      await change(db, warmUp)
      await ask()
    }
    const [after, warm]: [number[], number[]] = [[], []]
    for (let step = 0; step < 16; step += 1) {
      await change(db, step)
      after.push(await timed(ask))
      warm.push(await timed(ask))
    }
    const heap = [heapMb()]
    for (let step = 0; step < changes; step += 1) {
      await change(db, step)
      await ask()
      if (step + 1 === Math.floor(changes / 2) || step + 1 === changes) heap.push(heapMb())
    }
    return {
      tables,
      'full ms': full.toFixed(0),
      'changed ms': median(after).toFixed(1),
      'worst ms': Math.max(...after).toFixed(1),
      'warm ms': median(warm).toFixed(1),
      [`heap MB at 0, ${changes / 2}, ${changes}`]: heap.join(', '),
    }
  } finally {
    await database.close()
  }
}

describe.each(majors())('following a schema of PostgreSQL %i', (major) => {
  const rows: Record<string, string | number>[] = []
  afterAll(() => console.table(rows))
  test.each(sizes)('%i tables', { timeout: 1_800_000 }, async (tables) => {
    const db = await createDatabase({ major, prepare: true })
    try {
      rows.push(await measure(tables, db))
    } finally {
      await db.drop()
    }
  })
})
