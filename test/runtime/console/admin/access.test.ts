import { beforeAll, describe, expect, it } from 'vitest'
import { askOwner, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const sql = `
  create table public.docs (id int primary key, owner uuid, open boolean, "Select" text);
  alter table public.docs enable row level security;
  create policy reading on public.docs for select using (open or owner = auth.uid());
  create policy writing on public.docs for update to authenticated using (owner = auth.uid()) with check (not open);
  create policy adding on public.docs for insert to authenticated with check (owner = auth.uid());
  create policy sober on public.docs as restrictive for update using (id < 100);
  grant select on public.docs to anon, service_role;
  grant select, insert, update, delete on public.docs to authenticated;
  create table public."Odd ""name""" (id int primary key);
  insert into public."Odd ""name""" select generate_series(1, 10001);
  grant all on public."Odd ""name""" to anon;
  create table public.broken (id int primary key);
  alter table public.broken enable row level security;
  create function public.write_down() returns boolean language plpgsql as
    'begin insert into public.broken values (1); return true; end';
  create policy wrong on public.broken using (public.write_down());
  insert into public.broken values (0);
  grant select on public.broken to anon;
  create table public.stuck (id int primary key);
  insert into public.stuck values (1);
  alter table public.stuck enable row level security;
  create policy slow on public.stuck using (pg_sleep(60) is not null);
  grant select on public.stuck to anon;
  create schema elsewhere;
  create table elsewhere.hidden (id int primary key);`

let ada = ''
const server = forSuite(startAuthServer, { sql })
beforeAll(async () => {
  const { body } = await server.call('POST', '/admin/users', {
    token: server.serviceRole,
    body: { email: 'ada@example.com', password: 'correct horse', email_confirm: true },
  })
  ada = body.id
  await server.db.query(
    `insert into public.docs select n, case when n % 2 = 0 then $1::uuid end, n > 100 from generate_series(1, 110) n`,
    [ada],
  )
})

const ask = (path: string, key = server.serviceRole): Promise<Answer> => askOwner(server, 'GET', path, undefined, key)

const access = async (query: Readonly<Record<string, string>>): Promise<unknown> =>
  (await ask(`/access?${new URLSearchParams({ schema: 'public', ...query })}`)).body

const rows = (count: number) => ({ kind: 'rows', rows: count, more: false })
const noGrant = (privilege: string) => ({ kind: 'no-grant', privilege })

describe('policies', () => {
  it('are shown to the owner alone, table by table, with names that say which schema is meant', async () => {
    expect((await ask('/policies', server.anon)).status).toBe(403)
    const { tables } = (await ask('/policies')).body
    expect(tables.map(({ name }: { name: string }) => name)).toEqual(['Odd "name"', 'broken', 'docs', 'stuck'])
    expect(tables[0]).toEqual({ schema: 'public', name: 'Odd "name"', enabled: false, forced: false, policies: [] })
    expect(tables[2].policies).toContainEqual({
      name: 'writing',
      command: 'update',
      permissive: true,
      roles: ['authenticated'],
      using: '(owner = auth.uid())',
      check: '(NOT open)',
    })
    expect(tables[2].policies).toContainEqual(
      expect.objectContaining({ name: 'sober', permissive: false, roles: ['public'], check: null }),
    )
  })
})

describe('the reach of a role', () => {
  it('is what its grants and its policies say of each command', async () => {
    expect(await access({ table: 'docs' })).toEqual({
      role: 'anon',
      select: rows(10),
      insert: noGrant('insert'),
      update: noGrant('update'),
      delete: noGrant('delete'),
    })
    expect(await access({ table: 'docs', role: 'service_role' })).toMatchObject({ select: rows(110) })
  })

  it('is as a user what their requests reach: Postgres changes as many rows', async () => {
    expect(await access({ table: 'docs', user_id: ada })).toEqual({
      role: 'authenticated',
      select: rows(60),
      insert: { kind: 'new-rows', checked: true },
      update: rows(49),
      delete: { kind: 'no-policy' },
    })
    const claims = JSON.stringify({ role: 'authenticated', sub: ada })
    await server.db.queryAsLogin('begin')
    await server.db.queryAsLogin(
      `select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
      [claims],
    )
    const { rowCount } = await server.db.queryAsLogin('update public.docs set open = false where id > 0')
    await server.db.queryAsLogin('rollback')
    expect(rowCount).toBe(49)
  })

  it('is counted up to a bound, whatever a table is called, and inserting needs no policy where there is none', async () => {
    expect(await access({ table: 'Odd "name"' })).toMatchObject({
      select: { kind: 'rows', rows: 10_000, more: true },
      insert: { kind: 'new-rows', checked: false },
    })
  })

  it('is not given where a policy fails, writes or takes too long, and the answer says why', async () => {
    expect(await access({ table: 'broken' })).toMatchObject({
      select: { kind: 'failed', message: 'cannot execute INSERT in a read-only transaction' },
    })
    expect((await server.db.query('select id from public.broken')).rows).toEqual([{ id: 0 }])
    expect(await access({ table: 'stuck' })).toMatchObject({ select: { kind: 'failed' } })
  })

  it('is given for served tables and for roles that exist', async () => {
    const refused = async (query: string): Promise<readonly [number, string]> => {
      const { status, body } = await ask(`/access?${query}`)
      return [status, body.code]
    }
    expect(await refused('schema=elsewhere&table=hidden')).toEqual([404, 'not_found'])
    expect(await refused('schema=public&table=docs;')).toEqual([404, 'not_found'])
    expect(await refused('')).toEqual([404, 'not_found'])
    expect(await refused('schema=public&table=docs&role=nobody')).toEqual([400, 'validation_failed'])
    expect(await refused('schema=public&table=docs&user_id=x')).toEqual([400, 'validation_failed'])
    expect(await refused(`schema=public&table=docs&user_id=6f1a3d0c-0b1f-4a53-9d1e-2f5a53c7b9aa`)).toEqual([
      404,
      'user_not_found',
    ])
    expect(await access({ table: 'docs', role: 'postgres' })).toMatchObject({ select: { kind: 'failed' } })
    expect((await ask('/access?schema=public&table=docs', server.anon)).status).toBe(403)
  })
})
