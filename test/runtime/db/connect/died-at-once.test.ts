import type pg from 'pg'
import { expect, it } from 'vitest'
import { createOpen } from '../../../../runtime/db/connect/session.ts'
import { openingOf, serverOf, type Opening } from '../../../../runtime/db/connect/server.ts'
import { startupSettings } from '../../../../runtime/db/connect/startup.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const db = forSuite(createDatabase, {})

/** The first connections are terminated as soon as they are made. */
const dying = (count: number): { readonly opening: Opening<pg.Client>; readonly made: () => number } => {
  const { connect, end } = openingOf(serverOf(db.ownerUrl, startupSettings(['public'], 0)))
  let made = 0
  return {
    opening: {
      connect: async (config) => {
        const client = await connect(config)
        made += 1
        if (made > count) return client
        const ended = new Promise<void>((resolve) => void client.once('end', resolve))
        await overSessions(db).query('select pg_terminate_backend($1)', [
          (client as unknown as { processID: number }).processID,
        ])
        await ended
        return client
      },
      end,
    },
    made: () => made,
  }
}

it('another connection is made where the first one dies at once, and no third one', async () => {
  const one = dying(1)
  const { client, pooled } = await createOpen(one.opening, 'auto')()
  const { rows } = await client.query('select 1 as one')
  one.opening.end(client)
  expect([pooled, rows, one.made()]).toEqual([false, [{ one: 1 }], 2])

  const all = dying(Infinity)
  await expect(createOpen(all.opening, 'auto')()).rejects.toThrow()
  expect(all.made()).toBe(2)
})

it('a server that is not there is asked once', async () => {
  let asked = 0
  const connect = (): Promise<pg.Client> => {
    asked += 1
    return Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  }
  await expect(createOpen({ connect, end: () => undefined }, 'auto')()).rejects.toThrow('ECONNREFUSED')
  expect(asked).toBe(1)
})
