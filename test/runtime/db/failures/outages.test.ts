import { expect, test } from 'vitest'
import { freePort } from '../../../../runtime/embedded-postgres/free-port.ts'
import { createOutageLog } from '../../../../runtime/db/failures/outages.ts'
import { openDatabase } from '../../../../runtime/db/pool/pool.ts'
import type { LogEvent } from '../../../../runtime/log/events.ts'

test('an operator is told why the database is away, once a second and not with every request', async () => {
  const database = openDatabase({ url: `postgres://nobody@127.0.0.1:${await freePort()}/nothing`, schemas: ['public'] })
  const events: LogEvent[] = []
  const clock = { now: 0 }
  const failed = createOutageLog(
    (event) => events.push(event),
    () => clock.now,
  )
  const ask = () =>
    database
      .run({ caller: { role: 'anon', claims: '{}' }, version: null, readOnly: true, statements: [] })
      .catch((error) => {
        failed(error)
        throw error
      })

  await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(events).toEqual([{ kind: 'database-away', reason: expect.stringContaining('ECONNREFUSED') }])

  clock.now = 1_000
  await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(events).toHaveLength(2)
  await database.close()
})
