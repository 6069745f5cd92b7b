import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { openStatements, statement } from '../../runtime/db/pool/statements.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { dataOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'
import { createTestService } from '../support/service.ts'

/** The database's own time zone decides what a time without an offset is, and which day it is. */

const zone = `do $$ begin execute format('alter database %I set timezone to ''Asia/Kolkata''', current_database()); end $$;`
const sql = `${zone}
  create table acc (id int primary key, ts timestamptz, plain timestamp, span interval);
  insert into acc values (2, '2024-06-01T00:00:00Z', '2024-06-01T00:00:00', '1 day 2 hours');
  create function day_of(acc) returns date stable language sql as 'select $1.ts::date';
  grant all on acc to anon;
`

describe.each(lawMajors())('the time zone with PostgreSQL %i', (major) => {
  const service = forSuite(createTestService, { major, sql })

  test('is that of the database: what is written, read, filtered and computed', async () => {
    const written = await service.graphql(
      'mutation { updateaccCollection(set: {ts: "2024-06-01T20:00:00"}, filter: {id: {eq: 2}}) { records { ts day_of } } }',
    )
    expect(dataOf(written).updateaccCollection.records).toEqual([
      { ts: '2024-06-01T20:00:00+05:30', day_of: '2024-06-01' },
    ])
    const stored = await service.db.query(`select ts = '2024-06-01T14:30:00Z' as same from acc`)
    expect(stored.rows).toEqual([{ same: true }])
    const found = await service.graphql(
      '{ accCollection(filter: {ts: {eq: "2024-06-01T20:00:00"}}, orderBy: [{ts: AscNullsLast}]) { edges { cursor node { id plain span } } } }',
    )
    const [edge] = dataOf(found).accCollection.edges
    expect(edge.node).toEqual({ id: 2, plain: '2024-06-01T00:00:00', span: '1 day 02:00:00' })
    const after = await service.graphql(
      `{ accCollection(after: "${edge.cursor}", orderBy: [{ts: AscNullsLast}]) { edges { node { id } } } }`,
    )
    expect(dataOf(after).accCollection.edges).toEqual([])
  })

  test('may differ for a client of the database, and the settings of printing stay ours', async () => {
    const asked = [
      { name: 'test zone', text: `select current_setting('TimeZone'), current_setting('DateStyle')`, values: [] },
    ]
    const caller = { role: 'anon', claims: '{"role":"anon"}' }
    for (const [timeZone, expected] of [
      [undefined, 'Asia/Kolkata'],
      ['UTC', 'UTC'],
    ] as const) {
      const url = service.db.url
      const database = openDatabase({
        url,
        schemas: ['public'],
        poolSize: 1,
        ...(timeZone !== undefined && { timeZone }),
      })
      const rows = await database
        .run({ caller, version: null, readOnly: true, statements: asked })
        .finally(database.close)
      expect(rows[0]?.map(String)).toEqual([expected, 'ISO, MDY'])
    }
  })

  test('of our own statements is UTC', async () => {
    const text = `select current_setting('TimeZone') as zone`
    const { url } = service.db
    const own = openStatements({ url, schemas: [], role: null, poolSize: 1, statementTimeout: 1_000 })
    expect(await own.run(statement<{ zone: string }>('test.zone', text)).finally(own.close)).toEqual([{ zone: 'UTC' }])
    expect((await withSession({ url }, (query) => query(text))).rows).toEqual([{ zone: 'UTC' }])
    expect((await withSession({ url, searchPath: null }, (query) => query(text))).rows).toEqual([
      { zone: 'Asia/Kolkata' },
    ])
  })
})
