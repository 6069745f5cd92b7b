import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../../runtime/contract/execution.ts'
import { createRunOnConnection, outcome } from '../../../../runtime/db/check/transaction.ts'
import type { SchemaMark } from '../../../../runtime/db/check/schema-marks.ts'
import { counterOf, markExpression, versionExpression } from '../../../../runtime/db/check/version.ts'
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

  const run = (connection: Connection, exchange: Exchange, mark: SchemaMark | null): Promise<unknown> =>
    new Promise((resolve) => {
      runOnConnection(connection, exchange, { pairs: [], readOnly: false }, mark, (result) => {
        try {
          resolve(outcome(exchange, result))
        } catch (error) {
          resolve(error)
        }
      })
    })

  test.each([
    ['that compare the counter are answered', true],
    ['without a version are answered', false],
  ] as const)('are answered right: %s', async (_, isChecked) => {
    for (const { connection, version } of [...servers, ...servers, ...servers])
      expect(await run(connection, exchangeOf(isChecked ? version : null), null)).toEqual([['1']])
  })

  test('that rely on the mark of the server before are outdated, and compare the counter the next time', async () => {
    const [first, second] = servers
    if (first === undefined || second === undefined) throw new Error('there are two servers')
    const mark = { value: await markOf(0), counter: counterOf(first.version) }
    // A copy of the first server has its mark, and continued independently.
    await databases[1]?.query(`select setval('catalograph.schema_mark', ${mark.value})`)
    const exchange = exchangeOf(first.version)
    for (const _ of [1, 2, 3]) {
      expect(await run(first.connection, exchange, mark)).toEqual([['1']])
      expect(await run(first.connection, exchange, mark)).toEqual([['1']])
      expect(await run(second.connection, exchange, mark)).toMatchObject({ kind: 'stale' })
      expect(await run(second.connection, exchange, mark)).toMatchObject({ kind: 'stale' })
    }
  })

  const markOf = async (place: number): Promise<string> => {
    const rows = await databases[place]?.query(`select ${markExpression}::text as mark`)
    return String(rows?.rows[0]?.mark)
  }
})
