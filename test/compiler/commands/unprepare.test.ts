import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { authCommand } from '../../../compiler/commands/auth.ts'
import { prepareCommand } from '../../../compiler/commands/prepare.ts'
import { unprepareCommand } from '../../../compiler/commands/unprepare.ts'
import { runCommand, type CommandAnswer } from '../../support/command.ts'
import { createDatabase, type TestDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'

const sql = `
  comment on schema public is '@graphql({"live": {"enabled": true}})';
  create table note (id int primary key, owner uuid);
  alter table note enable row level security;
  create table parted (id int primary key) partition by list (id);
  create table part partition of parted for values in (1);
  grant select on note, parted to anon;
`

/** Every object that a command may have made, by type and name. */
async function objectsOf(db: TestDatabase): Promise<readonly string[]> {
  const { rows } = await db.query(`
    select o.type || ' ' || o.identity as name from (
      select 'pg_class'::regclass, oid from pg_class where relkind <> 't' and relname !~ '^pg_toast'
      union all select 'pg_proc'::regclass, oid from pg_proc
      union all select 'pg_trigger'::regclass, oid from pg_trigger where not tgisinternal
      union all select 'pg_event_trigger'::regclass, oid from pg_event_trigger
      union all select 'pg_type'::regclass, oid from pg_type
      union all select 'pg_policy'::regclass, oid from pg_policy
      union all select 'pg_publication'::regclass, oid from pg_publication
      union all select 'pg_namespace'::regclass, oid from pg_namespace
    ) own (class, oid), lateral pg_identify_object(own.class, own.oid, 0) o
    where coalesce(o.schema, '') not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`)
  return rows.map((row) => String((row as { readonly name: string }).name))
}

describe.each(lawMajors())('catalograph unprepare on PostgreSQL %i', (major) => {
  const db = forSuite(createDatabase, { major, sql, superuser: 'event triggers, which are made here, need one' })
  const run = (...args: readonly string[]): Promise<CommandAnswer> =>
    runCommand([prepareCommand, authCommand, unprepareCommand], args, {
      environment: { DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl },
    })
  let before: readonly string[] = []

  it('takes out all that prepare made, but for the functions that policies call', async () => {
    before = await objectsOf(db)
    expect((await run('prepare')).exitCode).toBe(0)
    const prepared = await objectsOf(db)
    expect(prepared.filter((name) => name.includes('catalograph_live_'))).not.toEqual([])
    const shown = await run('unprepare', '--sql')
    expect([shown.exitCode, shown.printed.trim()]).toEqual([0, 'drop schema if exists catalograph cascade;'])
    expect(await objectsOf(db)).toEqual(prepared)
    const { exitCode, printed } = await run('unprepare')
    expect([exitCode, printed]).toEqual([0, expect.stringContaining('schema catalograph is dropped')])
    const left = (await objectsOf(db)).filter((name) => !before.includes(name))
    expect(left).toEqual([
      'function auth.email()',
      'function auth.jwt()',
      'function auth.role()',
      'function auth.uid()',
      'schema auth',
    ])
  })

  it('leaves users alone, unless it is asked to drop them and nothing needs them', async () => {
    expect((await run('auth', 'enable', '--site-url', 'https://app.example.com')).exitCode).toBe(0)
    await db.query(`create policy own on note using (owner = auth.uid());
      alter table note add constraint owner_fkey foreign key (owner) references auth.users`)
    await run('unprepare')
    expect(await objectsOf(db)).toEqual(expect.arrayContaining(['table auth.users', 'schema catalograph_auth']))
    const whole = await objectsOf(db)
    const refused = await run('unprepare', '--with-users')
    expect(refused.exitCode).toBe(1)
    expect(refused.noted).toContain('policy own on public.note')
    expect(refused.noted).toContain('table constraint owner_fkey on public.note')
    expect(await objectsOf(db)).toEqual(whole)
    await db.query('drop policy own on note; alter table note drop constraint owner_fkey')
    expect(await run('unprepare', '--with-users')).toMatchObject({ exitCode: 0, noted: '' })
    expect(await objectsOf(db)).toEqual(before)
  })

  it('is refused while servers would prepare the database again, and while a table is locked', async () => {
    expect((await run('prepare')).exitCode).toBe(0)
    const server = new pg.Client({ connectionString: db.ownerUrl, application_name: 'catalograph' })
    await server.connect()
    const open = await run('unprepare')
    expect([open.exitCode, open.noted]).toEqual([1, expect.stringContaining('1 connections of servers are open')])
    await server.end()
    const owner = new pg.Client({ connectionString: db.ownerUrl })
    await owner.connect()
    await owner.query('begin; lock table note in access share mode')
    const locked = await run('unprepare')
    expect([locked.exitCode, locked.noted]).toEqual([1, expect.stringContaining('nothing was changed')])
    await owner.query('rollback')
    await owner.end()
    expect((await run('unprepare')).exitCode).toBe(0)
    expect((await run('unprepare')).noted).toContain('the database is not prepared')
  })
})
