import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createOutageLog, DatabaseFailure } from '../../../../runtime/db/failures/failures.ts'
import { createDatabase } from '../../../support/database.ts'
import { startProxy } from '../../../support/recording-proxy.ts'
import { whileServed } from '../../../support/while-served.ts'
import type { LogEvent } from '../../../../runtime/settings/log/events.ts'

test('the cause of an outage is logged once a second, and not with every request', () => {
  const events: LogEvent[] = []
  let now = 0
  const failed = createOutageLog(
    (event) => events.push(event),
    () => now,
    () => new Promise(() => undefined),
  )
  const away = new DatabaseFailure('unavailable', 'The database is away.', null, null)
  away.cause = new Error('connect ECONNREFUSED')
  for (now of [0, 999, 1_000]) failed(away)
  failed(new DatabaseFailure('timeout', 'It took too long.', null, null))
  const logged = { kind: 'database-away', reason: expect.stringContaining('ECONNREFUSED') }
  expect(events).toEqual([logged, logged])
})

test('a server logs an outage that a request met', async () => {
  const db = await createDatabase({ prepare: true })
  const proxy = await startProxy(Number(new URL(db.url).port))
  const through = Object.assign(new URL(db.url), { port: String(proxy.port) }).href
  const { noted } = await whileServed(db, { DATABASE_URL: through }, async ({ graphql }) => {
    expect((await graphql('{ __typename }')).status).toBe(200)
    await proxy.close()
    expect(await (await graphql('{ __typename nodeId: __typename }')).text()).toContain('DATABASE_UNAVAILABLE')
    const again = await startProxy(Number(new URL(db.url).port), proxy.port)
    await expect.poll(async () => (await graphql('{ __typename }')).status, { timeout: 10_000 }).toBe(200)
    await sleep(1_000)
    await again.close()
  })
  expect(noted).toContain('database-away')
  expect(noted).toContain('database-back')
  await db.drop()
})

test('a full disk is logged by its name, and has no end to wait for', () => {
  const events: LogEvent[] = []
  const failed = createOutageLog(
    (event) => events.push(event),
    () => 0,
    () => Promise.reject(new Error('it is not pinged')),
  )
  const full = new DatabaseFailure('unavailable', 'The database is away.', '53100', null)
  full.cause = new Error('could not extend file: No space left on device')
  failed(full)
  expect(events).toEqual([{ kind: 'database-disk-full', reason: expect.stringContaining('No space left') }])
})
