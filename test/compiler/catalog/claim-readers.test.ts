import { describe, expect, test } from 'vitest'
import { claimReaders } from '../../../compiler/catalog/queries/marks.ts'
import { createDatabase, majors } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

describe.each(majors())('the readers of single claims on PostgreSQL %i', (major) => {
  const db = forSuite(createDatabase, {
    major,
    prepare: true,
    sql: `create table base (id int primary key, owner text);
        create function fires() returns trigger language plpgsql as 'begin return new; end'`,
  })

  const reads = async (): Promise<unknown> => (await db.query(`select exists (${claimReaders(null)}) as r`)).rows[0].r
  const own = `current_setting('request.jwt.claim.sub', true)`
  const whole = `(current_setting('request.jwt.claims', true)::json ->> 'sub')`
  /** For whatever is put in the place of CLAIM. */
  const places: readonly (readonly [string, string])[] = [
    ['a policy', 'create policy p on base using (owner = CLAIM)'],
    ['what a policy lets in', 'create policy p on base for insert with check (owner = CLAIM)'],
    ['a default', 'alter table base alter owner set default CLAIM'],
    ['a check', 'alter table base add check (owner = CLAIM)'],
    ['a view', 'create view seen as select * from base where owner = CLAIM'],
    ['a rule', 'create rule r as on update to base where new.owner = CLAIM do instead nothing'],
    ['a body', 'create function f() returns text language sql as $$ select CLAIM $$'],
    ['a parsed body', 'create function f() returns text return CLAIM'],
    ['a block', 'create function f() returns text language plpgsql as $$ begin return CLAIM; end $$'],
    [
      'a trigger',
      'create trigger t before insert on base for each row when (new.owner = CLAIM) execute function fires()',
    ],
    ['a domain', 'create domain d as text check (value = CLAIM)'],
  ]
  const within = async (change: string, work: () => Promise<void>): Promise<void> => {
    await db.query(`begin; ${change}`)
    await work().finally(() => db.query('rollback'))
  }

  test('are not among the objects of a prepared database', async () => {
    expect(await reads()).toBe(false)
  })
  test.each(places)('are found in %s', async (_, change) => {
    await within(change.replace('CLAIM', whole), async () => expect(await reads()).toBe(false))
    await within(change.replace('CLAIM', own), async () => expect(await reads()).toBe(true))
  })
  test.each(places)('are found in %s that writes it in other letters', async (_, change) => {
    const other = `current_setting('Request.JWT.Claim.Sub', true)`
    await within(change.replace('CLAIM', other), async () => expect(await reads()).toBe(true))
  })
  test.each(places)('are found in %s that asks for any setting', async (_, change) => {
    const any = `current_setting(lower('Request.jwt.') || 'claims', true)`
    await within(change.replace('CLAIM', any), async () => expect(await reads()).toBe(true))
  })
})
