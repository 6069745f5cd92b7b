import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BoundStatement } from '../../../../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../../../../runtime/db/pool/pool.ts'
import { costOf, plansOf, type PlanOptions } from '../../../../runtime/graphql/run/cost-limit.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lawMajors } from '../../../support/whole.ts'

const sql = `
  create table item (id int primary key, kind int not null, owner text);
  insert into item select n, case when n <= 9900 then 0 else n end, case when n = 1 then 'anon' else 'other' end
    from generate_series(1, 10000) n;
  create index on item (kind);
  create domain natural_number as int not null check (value > 0);
  create function takes(natural_number) returns int language sql stable as 'select 1';
  create function acts() returns int language plpgsql volatile as $$ begin insert into acted values (1); return 1; end $$;
  create table acted (n int);
  grant all on item, acted to anon;
  create table hidden (id int);
  analyze item;
`

describe.each(lawMajors())('the estimate of PostgreSQL %i for a statement', (major) => {
  let db: Database
  const database = forSuite(createDatabase, { major, prepare: true, sql })
  beforeAll(async () => {
    // One connection, so that what one exchange leaves behind meets the next.
    db = openDatabase({ url: database.url, schemas: ['public'], poolSize: 1, statementTimeout: 5_000 })
  })
  afterAll(() => db.close())

  const caller = { role: 'anon', claims: '{"role":"anon"}' }
  const run = (statements: readonly BoundStatement[], readOnly = true) =>
    db.run({ caller, version: null, readOnly, statements })
  const statement = (text: string, ...values: string[]): BoundStatement => ({ name: `test ${text}`, text, values })
  const plans = (statements: readonly BoundStatement[], options?: PlanOptions) =>
    plansOf((parts) => run(parts), statements, options)
  const pid = async () => (await run([statement('select pg_backend_pid()')]))[0]?.[0]?.toString()

  it('is the same whatever its parameters are', async () => {
    const find = 'select owner from item where kind = $1'
    const [common, rare] = await plans([statement(find, '0'), statement(find, '9999')])
    expect(common).toBe(rare)
    // 9,900 of 10,000 rows have the common one; planned for its value, the whole table would be read.
    expect(common).toContain('Index')
  })
  it('is given for each of several statements, writes among them, and runs none', async () => {
    const found = await plans([
      statement('select acts()'),
      statement('delete from item where id > $1', '0'),
      statement('with x as (insert into acted select id from item returning 1) select count(*) from x'),
    ])
    expect(found.map((plan) => costOf(plan) > 0)).toEqual([true, true, true])
    expect(
      (
        await database.query(
          'select (select count(*) from item)::int as items, (select count(*) from acted)::int as acted',
        )
      ).rows,
    ).toEqual([{ items: 10_000, acted: 0 }])
  })
  it('is planned as the role that asks, with its policies', async () => {
    const all = statement('select count(*) from item')
    const [open = ''] = await plans([all])
    await database.query(
      `alter table item enable row level security; create policy own on item using (owner = current_user)`,
    )
    const [guarded = ''] = await plans([all])
    await database.query('alter table item disable row level security')
    expect(costOf(guarded)).toBeGreaterThan(costOf(open))
  })
  it('is found for parameters that cannot be null', async () => {
    const [plan = ''] = await plans([statement('select takes($1::natural_number)', '7')])
    expect(costOf(plan)).toBeGreaterThan(0)
    await expect(
      plans([statement('select 1'), statement('select takes($1::natural_number)', '-7')]),
    ).rejects.toMatchObject({
      statement: 1,
      sqlstate: '23514',
    })
    await expect(
      plans([statement('select takes($1::natural_number)', `'\\' or 1; drop table item; --`)]),
    ).rejects.toMatchObject({
      sqlstate: '22P02',
    })
  })
  it('leaves nothing behind, whatever fails', async () => {
    const connection = await pid()
    const left = async () => {
      const [row] = await run([
        statement(
          `select (select count(*) from pg_prepared_statements where name like 'catalograph.est%')::text || current_setting('plan_cache_mode')`,
        ),
      ])
      return row?.[0]?.toString()
    }
    await plans([statement('select 1')])
    expect(await left()).toBe('0auto')
    for (let round = 0; round < 3; round += 1) {
      await expect(plans([statement('select 1 / 0')])).rejects.toMatchObject({ statement: 0, sqlstate: '22012' })
      await expect(plans([statement('select 1'), statement('select * from hidden')])).rejects.toMatchObject({
        statement: 1,
        sqlstate: '42501',
      })
      await expect(plans([statement('select nothing')])).rejects.toMatchObject({ statement: 0, sqlstate: '42703' })
    }
    expect(await plans([statement('select 1')])).toHaveLength(1)
    expect(await left()).toBe('0auto')
    expect(await pid()).toBe(connection)
  })
  it('is the cost of the whole plan, whatever things are called', async () => {
    await database.query(`create table """Total Cost"": 7," (id int); grant all on """Total Cost"": 7," to anon`)
    const [plan = ''] = await plans([statement('delete from """Total Cost"": 7,"')], { verbose: true })
    const [{ Plan: node }] = JSON.parse(plan) as [{ Plan: { 'Total Cost': number } }]
    expect(costOf(plan)).toBe(node['Total Cost'])
    expect(costOf('')).toBe(Number.POSITIVE_INFINITY)
  })
})
