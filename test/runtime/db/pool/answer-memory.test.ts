import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Exchange, RequestContext } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { createByteBudget, type ByteBudget } from '../../../../runtime/lib/byte-budget.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const share = 3_000_000

let answers: ByteBudget
let db: Database
const database = forSuite(createDatabase, {
  sql: `
      create table note (id int);
      create function note_of(n int) returns text language sql as $$ insert into note values (n); select repeat('x', n) $$;
      grant all on note to anon;
    `,
})
beforeEach(() => {
  answers = createByteBudget({ bytes: 2 * share, share })
  db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 4, answers })
})
afterEach(() => db.close())

interface Asked {
  readonly exchange: Exchange
  readonly context: RequestContext
}

const exchange = (party: string, length: number, text = "select repeat('ä', $1::int / 2)"): Asked => ({
  exchange: {
    caller: { role: 'anon', claims: '{}' },
    version: null,
    readOnly: text.startsWith('select repeat'),
    statements: [{ name: `${text} for ${party}`, text, values: [String(length)] }],
  },
  context: {
    party,
    kind: 'stranger',
    deadline: Infinity,
    timeline: null,
    position: null,
    aborted: false,
    onAbort: null,
  },
})

const run = ({ exchange, context }: Asked) => db.run(exchange, context)

const lengthOf = async (asked: Asked): Promise<number | undefined> => (await run(asked))[0]?.[0]?.toString().length

/** Anyone who has an answer counts it, as the route does. */
const hold = (party: string, bytes: number) => {
  const holding = answers.open({ party })
  holding.force(bytes)
  return holding
}

const overloaded = { kind: 'overloaded', message: 'The server is short of memory for answers; try again shortly.' }

test('an answer for which there is no room stays with Postgres until there is, and comes whole', async () => {
  const held = hold('a', 2_000_000)
  let isThere = false
  const waiting = lengthOf(exchange('a', 2_500_000)).then((length) => {
    isThere = true
    return length
  })
  await expect.poll(answers.isWanted).toBe(true)
  expect(isThere).toBe(false)
  expect(await lengthOf(exchange('a', 1_000))).toBe(500)
  expect(await lengthOf(exchange('b', 2_500_000))).toBe(1_250_000)
  held.release()
  expect(await waiting).toBe(1_250_000)
  await expect.poll(() => answers.usage.bytes).toBe(0)
})

test('one that waits in vain is refused, as are those that would wait beside it, and others are served', async () => {
  const held = hold('a', 2_000_000)
  const began = performance.now()
  const two = [0, 1].map(() => lengthOf(exchange('a', 2_500_000)))
  const refused = await Promise.allSettled(two)
  expect(refused).toMatchObject([0, 1].map(() => ({ status: 'rejected', reason: overloaded })))
  expect(performance.now() - began).toBeLessThan(8_000)
  for (let times = 0; times < 8; times += 1) expect(await lengthOf(exchange('a', 1_000))).toBe(500)
  held.release()
  expect(await lengthOf(exchange('a', 2_500_000))).toBe(1_250_000)
})

test('a statement whose last answer was large does not run again before there is room', async () => {
  expect(await lengthOf(exchange('a', 2_500_000))).toBe(1_250_000)
  await expect.poll(() => answers.usage.bytes).toBe(0)
  const held = hold('a', 2_000_000)
  const waiting = lengthOf(exchange('a', 2_500_000))
  await pause(300)
  const running = await overSessions(database).query(
    "select count(*)::int n from pg_stat_activity where query like '%repeat%' and state = 'active' and pid <> pg_backend_pid()",
  )
  expect(running.rows).toEqual([{ n: 0 }])
  held.release()
  expect(await waiting).toBe(1_250_000)
})

test('a change is reported, room or not', async () => {
  const held = hold('a', 2_900_000)
  expect(await lengthOf(exchange('a', 2_500_000, 'select note_of($1::int)'))).toBe(2_500_000)
  expect((await database.query('select id from note')).rows).toEqual([{ id: 2_500_000 }])
  held.release()
})

test('everything that runs or waits is given up when the database stops, and nothing more begins', async () => {
  const stopping = { status: 'rejected', reason: { kind: 'stopping' } }
  const slow = Array.from({ length: 6 }, () => run(exchange('a', 20, 'select pg_sleep($1)')))
  await pause(300)
  await db.stop()
  expect(await Promise.allSettled([...slow, run(exchange('a', 1))])).toMatchObject([...slow, null].map(() => stopping))
})
