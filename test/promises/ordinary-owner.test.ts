import pg from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authCommand } from '../../compiler/commands/auth.ts'
import { doctorCommand } from '../../compiler/commands/doctor.ts'
import { prepareCommand } from '../../compiler/commands/prepare.ts'
import { runCommand, type CommandAnswer } from '../support/command.ts'
import { asRole, majors } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { whileServed } from '../support/while-served.ts'
import { createOwnedDatabase, type OwnedDatabase } from '../support/owned-database.ts'
import { lawMajors } from '../support/whole.ts'

/** Everything works for an owner who may create roles and databases and is not a superuser. */

const JWT_SECRET = 'a secret that has more than thirty-two characters'

const as = async (url: string, text: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

describe.each(majors())('an owner who is no superuser, on PostgreSQL %i', (major) => {
  const law = it.runIf(lawMajors().includes(major))
  const owned = forSuite(createOwnedDatabase, major)
  beforeAll(async () => {
    await as(owned.ownerUrl, 'create role authenticator login noinherit')
  })

  const run = (...args: readonly string[]): Promise<CommandAnswer> =>
    runCommand([prepareCommand, authCommand, doctorCommand], args, {
      environment: {
        DATABASE_URL: owned.loginUrl,
        DATABASE_OWNER_URL: owned.ownerUrl,
        JWT_SECRET,
        CATALOGRAPH_DATA: '/nowhere',
      },
    })

  it('can prepare the database', async () => {
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
  })

  it('enables auth', async () => {
    expect(await run('auth', 'enable', '--site-url', 'http://localhost:3000')).toMatchObject({ exitCode: 0 })
    expect(await ownersOf(owned)).toEqual([{ owner: 'supabase_auth_admin' }])
    expect(await run('auth', 'status')).toMatchObject({ exitCode: 0 })
  })

  law('learns which table auth may not use, and how that is repaired, which enabling auth does', async () => {
    await owned.superuser.query(asLeftByOlderVersions)
    const refusal =
      'supabase_auth_admin may not use table catalograph_auth.accepted_mails, which belongs to boss (and 12 others, which catalograph doctor names): ' +
      'run catalograph auth enable as a role that may, which DATABASE_OWNER_URL names, or as boss: ' +
      'alter table catalograph_auth.accepted_mails owner to supabase_auth_admin;'
    expect(await run('auth', 'status')).toMatchObject({ exitCode: 1, noted: `catalograph: ${refusal}` })
    expect(await run('auth', 'enable')).toMatchObject({
      exitCode: 0,
      noted: expect.stringContaining('Prepared: owner of the tables'),
    })
    expect(await ownersOf(owned)).toEqual([{ owner: 'supabase_auth_admin' }])
  })

  law('is shown such tables by doctor, and starting the server repairs them', async () => {
    const { superuser, loginUrl, ownerUrl } = owned
    await superuser.query(asLeftByOlderVersions)
    const seen = (await run('doctor')).printed
    expect(seen).toMatch(/^FAULT +auth +supabase_auth_admin may not use table catalograph_auth\.accepted_mails, which/m)
    expect(seen).toContain('-> alter table catalograph_auth.settings owner to supabase_auth_admin;')
    await whileServed({ url: loginUrl, ownerUrl }, {}, async () => {
      await expect.poll(() => ownersOf(owned), { timeout: 10_000 }).toEqual([{ owner: 'supabase_auth_admin' }])
    })
    expect((await run('doctor')).printed).toMatch(/^ok +auth +auth may use its tables$/m)
  })
})

describe.each(majors())('an owner who did not make the roles of the API, on PostgreSQL %i', (major) => {
  const law = it.runIf(lawMajors().includes(major))
  let owned: OwnedDatabase
  beforeEach(async () => {
    owned = await createOwnedDatabase(major)
    await owned.superuser.query('create role kit login createrole; create role authenticator login noinherit')
  })
  afterEach(() => owned?.drop())

  const run = (...args: readonly string[]): Promise<CommandAnswer> =>
    runCommand([prepareCommand, doctorCommand], args, {
      environment: { DATABASE_URL: owned.loginUrl, DATABASE_OWNER_URL: owned.ownerUrl, JWT_SECRET },
    })
  const isPrepared = async (): Promise<unknown> =>
    (await owned.superuser.query(`select to_regnamespace('catalograph') is not null as prepared`)).rows[0]?.prepared

  it.runIf(major >= 16)('learns which role may not be granted, who may grant it, and by which statements', async () => {
    await as(asRole(owned.ownerUrl, 'kit'), 'create role anon; create role authenticated; create role service_role')
    const way =
      'boss may not grant anon to authenticator; let kit run: ' +
      'grant anon to authenticator; grant authenticated to authenticator; grant service_role to authenticator;'
    expect((await run('prepare')).noted).toContain(`and nothing was changed: ${way}`)
    expect((await run('doctor')).printed).toContain(way)
    expect(await isPrepared()).toBe(false)
    await as(asRole(owned.ownerUrl, 'kit'), 'grant anon, authenticated, service_role to authenticator')
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
  })

  law('learns that the role of DATABASE_URL does not exist, and the statement that creates it', async () => {
    await owned.superuser.query('drop role authenticator')
    const lack = 'the role authenticator, which DATABASE_URL names, does not exist'
    const remedy = `create role "authenticator" login noinherit password '...';`
    expect((await run('prepare')).noted).toContain(`${lack}: let an owner run ${remedy}`)
    const seen = (await run('doctor')).printed
    expect(seen).toMatch(new RegExp(`^FAULT +login +${lack}$`, 'm'))
    expect(seen).toContain(`-> ${remedy}`)
    await as(owned.ownerUrl, remedy)
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
  })

  it('learns which right it lacks where roles, schemas or functions cannot be made', async () => {
    const { superuser, name } = owned
    const refusal = async (): Promise<string> => (await run('prepare')).noted
    await superuser.query(`alter role boss nocreaterole; alter database ${name} owner to postgres`)
    expect(await refusal()).toContain('boss may not create role anon; let a superuser run: alter role boss createrole;')
    await superuser.query('alter role boss createrole')
    expect(await refusal()).toContain(
      `boss may not create schema catalograph; let postgres run: grant create on database ${name} to boss;`,
    )
    await superuser.query(`grant create on database ${name} to boss; create schema auth`)
    expect(await refusal()).toContain(
      'boss may not create a function in schema auth, which belongs to postgres; let postgres run: grant create on schema auth to boss;',
    )
    await superuser.query('grant create on schema auth to boss; grant usage on schema auth to boss')
    expect(await refusal()).toContain(
      'boss may not grant usage on schema auth to anon; let postgres run: grant usage on schema auth to anon;',
    )
    expect(await isPrepared()).toBe(false)
    await superuser.query('grant usage on schema auth to boss with grant option')
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
  })

  law('learns which object of schema catalograph another role owns', async () => {
    await owned.superuser.query('grant boss to kit')
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
    await owned.superuser.query(
      'alter function catalograph.current(text, text, text) owner to postgres; drop function catalograph.refuse(text); ' +
        'alter schema catalograph owner to postgres',
    )
    expect((await run('prepare')).noted).toContain(
      'boss may not create anything in schema catalograph, which belongs to postgres; let postgres run: catalograph prepare',
    )
  })
})

describe.each(lawMajors())('a database that an owner and a superuser prepared, on PostgreSQL %i', (major) => {
  let owned: OwnedDatabase
  beforeEach(async () => {
    owned = await createOwnedDatabase(major)
    await as(owned.ownerUrl, 'create role authenticator login noinherit')
    await run(owned.ownerUrl, 'prepare')
  })
  afterEach(() => owned?.drop())

  const run = (ownerUrl: string, ...args: readonly string[]): Promise<CommandAnswer> =>
    runCommand([prepareCommand, doctorCommand], args, {
      environment: { DATABASE_URL: owned.loginUrl, DATABASE_OWNER_URL: ownerUrl, JWT_SECRET },
    })

  it('belongs to the owner of the schema, so that both can change tables', async () => {
    await run(owned.superuser.url, 'prepare')
    await owned.superuser.query(asMadeByOlderVersions)
    expect(await run(owned.superuser.url, 'prepare')).toMatchObject({ exitCode: 0 })
    await as(owned.ownerUrl, 'create table public.mine ()')
    await owned.superuser.query('create table public.theirs ()')
    expect(await run(owned.ownerUrl, 'doctor')).toMatchObject({ printed: expect.not.stringMatching(/belongs to/) })
  })

  it('is named by doctor where it still belongs to the superuser, and repaired by prepare', async () => {
    await run(owned.superuser.url, 'prepare')
    await owned.superuser.query(`${unfollowed('disable')}; alter table catalograph.schema_record owner to postgres;
      alter table catalograph.schema_version owner to postgres; ${unfollowed('enable always')}`)
    await expect(as(owned.ownerUrl, 'create table public.mine ()')).rejects.toMatchObject({ code: '42501' })
    const seen = (await run(owned.ownerUrl, 'doctor')).printed
    expect(seen).toMatch(/^FAULT +prepared +table catalograph.schema_record belongs to postgres and not to boss/m)
    expect(seen).toContain('alter table catalograph.schema_record owner to boss;')
    expect((await run(owned.ownerUrl, 'prepare')).printed).toContain(
      'alter table catalograph.schema_record owner to boss;',
    )
    expect((await run(owned.superuser.url, 'prepare')).printed).toMatch(/^the database is prepared$/m)
    await as(owned.ownerUrl, 'create table public.mine ()')
  })

  it('has a service_role that policies bind, which prepare and doctor say, until a superuser lets it bypass them', async () => {
    const said = 'policies bind service_role, since it does not bypass row-level security'
    const remedy = 'let a superuser run: alter role service_role bypassrls;'
    expect((await run(owned.ownerUrl, 'prepare')).printed).toContain(`${said}: ${remedy}`)
    const seen = (await run(owned.ownerUrl, 'doctor')).printed
    expect(seen).toMatch(new RegExp(`^advice +roles +${said}\n +-> ${remedy}$`, 'm'))
    await owned.superuser.query('alter role service_role bypassrls')
    expect((await run(owned.ownerUrl, 'prepare')).printed).not.toContain(said)
    expect((await run(owned.ownerUrl, 'doctor')).printed).not.toContain(said)
  })
})

const unfollowed = (state: string): string =>
  ['ddl_command_end', 'sql_drop'].map((event) => `alter event trigger catalograph_${event} ${state}`).join('; ')

/** They knew one table. */
const asMadeByOlderVersions = `${unfollowed('disable')};
  drop table catalograph.schema_record, catalograph.live_changes;
  create or replace function catalograph.count_commands() returns event_trigger language plpgsql security definer as
    'begin insert into catalograph.schema_version as v values (pg_backend_pid(), 1) on conflict (pid) do update set n = v.n + 1; end';
  ${unfollowed('enable always')}`

/** They transferred the schema alone, before its tables. */
const asLeftByOlderVersions = `do $$ declare name text; begin
  foreach name in array array['settings', 'templates', 'settings_version', 'codes', 'totp_steps', 'ambiguous_passwords', 'address_proofs',
    'flow_tries', 'cooldowns', 'throttles', 'bans', 'outbox', 'accepted_mails'] loop
    execute format('alter table catalograph_auth.%I owner to boss', name);
  end loop;
  alter function catalograph_auth.count_settings() owner to boss;
end $$`

const ownersOf = async ({ superuser }: OwnedDatabase): Promise<readonly unknown[]> =>
  (
    await superuser.query(`select distinct pg_get_userbyid(owner) as owner from (
      select relowner from pg_class where relnamespace in ('auth'::regnamespace, 'catalograph_auth'::regnamespace) union all
      select proowner from pg_proc where pronamespace = 'catalograph_auth'::regnamespace union all
      select nspowner from pg_namespace where nspname in ('auth', 'catalograph_auth')) o (owner)`)
  ).rows
