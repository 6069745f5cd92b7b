import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBudget } from '../../../../runtime/auth/limits/budget.ts'
import { openStatements, statement, type StatementsDatabase } from '../../../../runtime/db/pool/statements.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

let database: StatementsDatabase
const db = forSuite(createDatabase, {
  sql: `create table kept (n int primary key);
      create table slow (n int);
      create function think() returns trigger language plpgsql as 'begin perform pg_sleep(1.5); return null; end';
      create constraint trigger think after insert on slow deferrable initially deferred
        for each row execute function think()`,
})
beforeAll(async () => {
  database = openStatements({ url: db.ownerUrl, schemas: ['public'], role: null, poolSize: 4, statementTimeout: 5_000 })
})
afterAll(() => database?.close())

const keep = statement<object>('test.keep', 'insert into kept values ($1)')
const slow = statement<object>('test.slow', 'insert into slow values ($1)')
const sleepy = statement<object>('test.sleepy', 'select pg_sleep($1)')
const keepSlowly = statement<object>('test.keep-slowly', 'insert into kept select $1 from pg_sleep(1)')

const isKept = async (n: number): Promise<boolean> =>
  (await db.query('select from kept where n = $1', [n])).rowCount === 1
const timeout = { code: 'request_timeout', status: 504 }
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('the answer 504 comes at once, and the transaction that was under way keeps nothing afterwards', async () => {
  const budget = createBudget(database, 400)
  const began = performance.now()
  const call = budget.within(() =>
    budget.database.transaction(async (run) => {
      await run(keep, [1])
      await run(sleepy, [2])
    }),
  )
  await expect(call).rejects.toMatchObject(timeout)
  expect(performance.now() - began).toBeLessThan(1_900)
  await wait(2_200)
  expect(await isKept(1)).toBe(false)
})

it('nothing begins after 504: neither a statement nor a transaction', async () => {
  const budget = createBudget(database, 50)
  const later: unknown[] = []
  const call = budget.within(async () => {
    await wait(150)
    later.push(await budget.database.run(keep, [2]).catch((error: unknown) => error))
    later.push(await budget.database.transaction((run) => run(keep, [3])).catch((error: unknown) => error))
  })
  await expect(call).rejects.toMatchObject(timeout)
  await expect.poll(() => later).toMatchObject([timeout, timeout])
  expect([await isKept(2), await isKept(3)]).toEqual([false, false])
})

it('a commit that runs when the time is up is answered by its result', async () => {
  const budget = createBudget(database, 600)
  const call = budget.within(async () => {
    await budget.database.transaction(async (run) => {
      await run(slow, [4])
      await run(keep, [4])
    })
    return 'done'
  })
  expect(await call).toBe('done')
  expect(await isKept(4)).toBe(true)
})

it('so are statements that commit together, after which nothing is cut off', async () => {
  const budget = createBudget(database, 600)
  const call = budget.within(async () => {
    await budget.database.together((run) => Promise.all([run(slow, [8]), run(keep, [8])]))
    await wait(700)
    return (await budget.database.run(sleepy, [0])).length
  })
  expect(await call).toBe(1)
  expect(await isKept(8)).toBe(true)
  const late = createBudget(database, 50)
  const tooLate = late.within(async () => {
    await wait(150)
    await late.database.together((run) => run(keep, [9]))
  })
  await expect(tooLate).rejects.toMatchObject(timeout)
  await wait(100)
  expect(await isKept(9)).toBe(false)
})

it('a single statement, which commits alone, is cut off as well; what would follow it is refused', async () => {
  const done = createBudget(database, 400)
  expect(await done.within(() => done.database.run(keepSlowly, [5]))).toEqual([])
  expect(await isKept(5)).toBe(true)
  const more = createBudget(database, 400)
  const call = more.within(async () => {
    await more.database.run(sleepy, [1])
    await more.database.run(keep, [6])
  })
  await expect(call).rejects.toMatchObject(timeout)
  expect(await isKept(6)).toBe(false)
})

it('a request that was in time is not cut off after the commit, and the next one is answered', async () => {
  const budget = createBudget(database, 400)
  const call = budget.within(async () => {
    await budget.database.transaction((run) => run(keep, [7]))
    await wait(700)
    return (await budget.database.run(sleepy, [0])).length
  })
  expect(await call).toBe(1)
})
