import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../../runtime/contract/execution.ts'
import { createRunOnConnection, outcome, type Reliance } from '../../../../runtime/db/check/transaction.ts'
import { versionExpression } from '../../../../runtime/db/check/version.ts'
import { createConnection, type Connection } from '../../../../runtime/db/wire/exchange.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { openText } from '../../../support/open-text.ts'

/** Behind a pooler two servers may answer by turns, while one takes the place of the other (docs/scale.md, poolers). */
describe('requests that two servers behind one pooler answer by turns', () => {
  const pooled = { settings: [], keepsNames: () => true, lostName: () => undefined }
  const runOnConnection = createRunOnConnection([])
  const databases: TestDatabase[] = []
  const servers: { readonly connection: Connection; readonly version: string }[] = []

  beforeAll(async () => {
    for (const isolated of [false, true]) {
      const database = await createDatabase({ isolated, prepare: true, sql: 'create table notes (id int)' })
      databases.push(database)
      const { rows } = await database.query(`select ${versionExpression} as version`)
      const client = new pg.Client(database.url)
      await client.connect()
      servers.push({ connection: createConnection(client, null, pooled), version: String(rows[0]?.version) })
    }
  })
  afterAll(async () => {
    for (const { connection } of servers) await connection.client.end()
    for (const database of databases) await database.drop()
  })

  const statement = { name: 'test.one', text: openText('select 1'), values: [], carriesCheck: true } as const
  const exchangeOf = (version: string | null): Exchange => ({
    caller: { role: 'anon', claims: '{"role":"anon"}' },
    version,
    privileges: { role: 'anon', superuser: false, holders: [], held: new Set<string>() },
    readOnly: true,
    statements: [statement],
  })

  const run = (connection: Connection, exchange: Exchange, reliance: Reliance): Promise<unknown> =>
    new Promise((resolve) => {
      const settings = { pairs: [], readOnly: false }
      runOnConnection(connection, exchange, settings, { mark: null, proof: null }, reliance, (result) =>
        resolve(outcome(exchange, result)),
      )
    })

  test.each([
    ['that rely on nothing are answered', true, 'on nothing'],
    ['without a version are answered', false, 'on the snapshot'],
  ] as const)('%s', async (_, isChecked, reliance) => {
    for (const { connection, version } of [...servers, ...servers, ...servers])
      expect(await run(connection, exchangeOf(isChecked ? version : null), reliance)).toEqual([['1']])
  })
})
