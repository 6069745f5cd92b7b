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
  })
  expect(noted).toContain('database-away')
  await db.drop()
})
