import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { createConnection, runStatements, type Connection } from '../../../../runtime/db/wire/exchange.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const opened: Connection[] = []
/** The facts about the pooler before all of them. */
let keepsNames = true
const pooled = {
  settings: [],
  keepsNames: () => keepsNames,
  lostName: () => {
    keepsNames = false
  },
}

const open = async (): Promise<Connection> => {
  const client = new pg.Client(db.url)
  await client.connect()
  const connection = createConnection(client, null, pooled)
  opened.push(connection)
  return connection
}

const one = { name: 'test.one', text: 'select 1', values: [] }
/** As a pooler does that gives it a backend which knows nothing of what was prepared. */
const forget = { name: '', text: 'deallocate all', values: [] }

const db = forSuite(createDatabase)
afterAll(async () => {
  await Promise.all(opened.map(({ client }) => client.end()))
})

it('a name that one connection lost is used by no other one behind that pooler', async () => {
  const [first, second] = [await open(), await open()]
  for (const connection of [first, second]) {
    expect(await runStatements(connection, [one])).toEqual({ kind: 'rows', rows: [[['1']]] })
    await runStatements(connection, [forget])
  }
  expect(await runStatements(first, [one])).toMatchObject({ kind: 'failed', error: { code: '26000' } })
  expect(await runStatements(second, [one])).toEqual({ kind: 'rows', rows: [[['1']]] })
})
