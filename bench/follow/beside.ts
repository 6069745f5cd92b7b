import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { TestDatabase } from '../../test/support/database.ts'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { askFrom } from './measure.ts'

/** Reads of a table that never changes: alone, and beside changes of others, in milliseconds since each was due. */
export interface BesideReads {
  readonly tables: number
  readonly alone: readonly number[]
  readonly beside: readonly number[]
  readonly refused: number
  /** Duration of the changes. */
  readonly changes: readonly number[]
}

export interface BesideLoad {
  readonly seconds: number
  readonly readsPerSecond: number
  readonly changesPerSecond: number
}

/** Calls at a fixed rate, without waiting for the earlier ones. Milliseconds from when each was due to its end. */
async function atRate(perSecond: number, seconds: number, work: (step: number) => Promise<unknown>): Promise<number[]> {
  const began = performance.now()
  const running = Array.from({ length: Math.round(perSecond * seconds) }, async (_, step) => {
    const due = began + (step * 1_000) / perSecond
    await pause(Math.max(0, due - performance.now()))
    await work(step)
    return performance.now() - due
  })
  return Promise.all(running)
}

/** Each table gets a column and loses it again. `tab_7` is read, and `tab_0` to `tab_19` are referred to by others. */
const changeSql = (step: number, tables: number): string => {
  const table = `tab_${20 + (step % (tables - 20))}`
  return step % 2 === 0
    ? `alter table ${table} add column extra_${step} int`
    : `comment on table ${table} is 'Step ${step}'`
}

export async function measureBeside(
  db: TestDatabase,
  tables: number,
  { seconds, readsPerSecond, changesPerSecond }: BesideLoad,
): Promise<BesideReads> {
  const database = openDatabase({ url: db.url, schemas: ['public'] })
  const prepare = () => Promise.resolve({ ready: true, followed: true, live: false, statements: [] } as const)
  const source = createFollowedSource({ schemas: ['public'], query: database.query, prepare, log: () => undefined })
  const ask = askFrom({ database, source })
  const changer = new pg.Client(db.ownerUrl)
  await changer.connect()
  let refused = 0
  const read = (): Promise<unknown> => ask().catch(() => (refused += 1))
  try {
    await ask()
    await atRate(readsPerSecond, 2, read)
    const alone = await atRate(readsPerSecond, seconds, read)
    const [beside, changes] = await Promise.all([
      atRate(readsPerSecond, seconds, read),
      atRate(changesPerSecond, seconds, (step) => changer.query(changeSql(step, tables))),
    ])
    return { tables, alone, beside, refused, changes }
  } finally {
    await changer.end()
    await database.close()
  }
}
