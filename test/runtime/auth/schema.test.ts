import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { prepareDatabase } from '../../../compiler/following/prepare/prepare.ts'
import { migrateAuth } from '../../../runtime/auth/schema/migrate.ts'
import { asRole, createDatabase, dropTemplates, majors, type TestDatabase } from '../../support/database.ts'
import { lawMajors } from '../../support/whole.ts'

const names = [
  'schema auth',
  'schema catalograph_auth',
  'requests for mails',
  'windows of guests',
  'sessions of recoveries',
  'orders of lists',
  'sessions of linking',
  'kinds of hashes',
  'marks of refresh tokens',
  'confirmations of changes',
  'used ID tokens',
  'guesses of factors',
  'guesses of passwords',
  'sources of mails',
]

/** The rows that a migration may write: catalogues, with their row versions. */
const footprint = `select string_agg(x, e'\\n' order by x) as all from (
  select 'class ' || oid || ' ' || xmin from pg_class where oid >= 16384 union all
  select 'proc ' || oid || ' ' || xmin from pg_proc where oid >= 16384 union all
  select 'schema ' || oid || ' ' || xmin from pg_namespace union all
  select 'applied ' || version || ' ' || xmin from catalograph_auth.migrations) t(x)`

const columns = `select string_agg(column_name || ' ' || udt_name || coalesce('(' || character_maximum_length || ')', '')
    || case when is_nullable = 'NO' then ' not null' else '' end
    || case when is_generated = 'ALWAYS' then ' generated' else '' end, ', ' order by ordinal_position) as columns
  from information_schema.columns where table_schema = 'auth' and table_name = $1`

describe.each(majors())('migrating auth on PostgreSQL %i', (major) => {
  const law = test.runIf(lawMajors().includes(major))
  const opened: TestDatabase[] = []
  const create = async (options: Parameters<typeof createDatabase>[0] = {}): Promise<TestDatabase> => {
    const made = await createDatabase({ major, ...options })
    opened.push(made)
    return made
  }
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.drop()
  })

  test('makes everything once; a second run writes nothing', async () => {
    const db = await create({ prepare: true })
    expect(await migrateAuth({ url: db.ownerUrl })).toEqual(names)
    const before = (await db.query(footprint)).rows
    expect(await migrateAuth({ url: db.ownerUrl })).toEqual([])
    expect((await db.query(footprint)).rows).toEqual(before)
    expect(await prepareDatabase({ url: db.ownerUrl, login: 'authenticator' })).toMatchObject({ ready: true })
  })

  law('several at once do not collide', async () => {
    const db = await create()
    const applied = await Promise.all([1, 2, 3].map(() => migrateAuth({ url: db.ownerUrl })))
    expect(applied.flat().sort()).toEqual([...names].sort())
  })

  law('gives the tables of spec/auth.md 13 their columns, types and order', async () => {
    const db = await create()
    await migrateAuth({ url: db.ownerUrl })
    const of = async (table: string): Promise<unknown> => (await db.query(columns, [table])).rows[0].columns
    expect(await of('users')).toBe(
      'instance_id uuid, id uuid not null, aud varchar(255), role varchar(255), email varchar(255), ' +
        'encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz, ' +
        'confirmation_token varchar(255), confirmation_sent_at timestamptz, recovery_token varchar(255), ' +
        'recovery_sent_at timestamptz, email_change_token_new varchar(255), email_change varchar(255), ' +
        'email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb, ' +
        'raw_user_meta_data jsonb, is_super_admin bool, created_at timestamptz, updated_at timestamptz, phone text, ' +
        'phone_confirmed_at timestamptz, phone_change text, phone_change_token varchar(255), ' +
        'phone_change_sent_at timestamptz, confirmed_at timestamptz generated, ' +
        'email_change_token_current varchar(255), email_change_confirm_status int2, banned_until timestamptz, ' +
        'reauthentication_token varchar(255), reauthentication_sent_at timestamptz, is_sso_user bool not null, ' +
        'deleted_at timestamptz, is_anonymous bool not null',
    )
    expect(await of('refresh_tokens')).toBe(
      'instance_id uuid, id int8 not null, token varchar(255), user_id varchar(255), revoked bool, ' +
        'created_at timestamptz, updated_at timestamptz, parent varchar(255), session_id uuid',
    )
    expect(await of('sessions')).toBe(
      'id uuid not null, user_id uuid not null, created_at timestamptz, updated_at timestamptz, factor_id uuid, ' +
        'aal aal_level, not_after timestamptz, refreshed_at timestamp, user_agent text, ip inet, tag text, ' +
        'oauth_client_id uuid, refresh_token_hmac_key text, refresh_token_counter int8, scopes text',
    )
    expect(await of('identities')).toBe(
      'provider_id text not null, user_id uuid not null, identity_data jsonb not null, provider text not null, ' +
        'last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz, email text generated, id uuid not null',
    )
  })

  law('protects every table and hands them to their owner', async () => {
    const db = await create({ prepare: true })
    await migrateAuth({ url: db.ownerUrl })
    const { rows } = await db.query(`select relname from pg_class
      where relnamespace = 'auth'::regnamespace and relkind = 'r'
      and not (relrowsecurity and pg_get_userbyid(relowner) = 'supabase_auth_admin'
        and not has_table_privilege('anon', oid, 'select') and not has_table_privilege('service_role', oid, 'select'))`)
    expect(rows).toEqual([])
    for (const role of ['anon', 'authenticated', 'service_role']) {
      await db.queryAsLogin(`set role ${role}`)
      for (const table of ['auth.users', 'catalograph_auth.settings'])
        await expect(db.queryAsLogin(`select from ${table}`)).rejects.toMatchObject({ code: '42501' })
    }
    expect((await db.query('select auth.uid() as uid')).rows).toEqual([{ uid: null }])
  })

  law('restores the rows of another project with COPY, as a dump of its data has them', async () => {
    const [from, to] = [await create(), await create()]
    for (const db of [from, to]) await migrateAuth({ url: db.ownerUrl })
    await from.query(`
      with u as (insert into auth.users (id, email, encrypted_password, email_confirmed_at)
        values (gen_random_uuid(), 'Old@Example.com', '$2a$10$x', now()) returning id),
      i as (insert into auth.identities (provider_id, user_id, identity_data, provider)
        select id, id, '{"email": "Old@Example.com"}', 'email' from u),
      s as (insert into auth.sessions (id, user_id, aal) select gen_random_uuid(), id, 'aal1' from u returning id, user_id)
      insert into auth.refresh_tokens (token, user_id, session_id, revoked) select 'abcdefghijkl', user_id, id, false from s`)
    for (const table of ['users', 'identities', 'sessions', 'refresh_tokens']) {
      // A dump leaves generated columns out.
      const { rows } = await from.query(
        `select string_agg(attname, ', ' order by attnum) as list from pg_attribute
        where attrelid = ('auth.' || $1)::regclass and attnum > 0 and attgenerated = ''`,
        [table],
      )
      const file = `/tmp/catalograph-${randomUUID()}`
      const copy = `copy auth.${table} (${rows[0].list})`
      const reason = 'COPY writes and reads a file of the server'
      await from.superuser(reason).query(`${copy} to '${file}'`)
      await to.superuser(reason).query(`${copy} from '${file}'`)
      await rm(file)
    }
    await to.query(`select setval('auth.refresh_tokens_id_seq', 41)`)
    const all = 'select u.*, i.email as identity, t.token from auth.users u, auth.identities i, auth.refresh_tokens t'
    expect((await to.query(all)).rows).toEqual((await from.query(all)).rows)
    await to.query('delete from auth.users')
    expect((await to.query('select from auth.refresh_tokens')).rows).toEqual([])
  })

  law('leaves tables that were there and adds what they lack', async () => {
    const db = await create({
      sql: `create schema auth; create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
        create table auth.users (instance_id uuid, id uuid primary key, email varchar(255), phone text,
          email_confirmed_at timestamptz, phone_confirmed_at timestamptz, is_super_admin bool, instance text,
          confirmation_token varchar(255), recovery_token varchar(255), email_change_token_new varchar(255));
        insert into auth.users (id, email) values ('6a4d6cc0-1b0f-4f6f-8f3e-0a0a0a0a0a0a', 'kept@example.com')`,
    })
    expect(await migrateAuth({ url: db.ownerUrl })).toEqual(names)
    expect((await db.query('select email, is_anonymous, confirmed_at from auth.users')).rows).toEqual([
      { email: 'kept@example.com', is_anonymous: false, confirmed_at: null },
    ])
  })

  test('by an owner who is not a superuser goes as far as they may', async () => {
    const db = await create({ isolated: true })
    await dropTemplates(db)
    await db.query(`drop role supabase_auth_admin; create role keeper login createrole;
      do $$ begin execute format('grant create on database %I to keeper', current_database()); end $$`)
    const url = asRole(db.ownerUrl, 'keeper')
    expect(await migrateAuth({ url })).toEqual(names)
    const { rows } = await db.query(`select distinct pg_get_userbyid(relowner) as owner from pg_class
      where relnamespace = 'auth'::regnamespace and relkind = 'r'`)
    expect(rows).toHaveLength(1)
  })

  test.each([
    ['the database', '', /^keeper may not create anything in database t_\w+, which belongs to owner;/],
    [
      'a table that a superuser restored',
      'create schema auth; grant usage, create on schema auth to keeper; create table auth.users (id uuid primary key)',
      /^keeper may not change table auth.users, which belongs to postgres; .* owner to "keeper";$/,
    ],
    [
      'a schema of another role',
      'create role other; create schema auth authorization other',
      /^keeper may not create anything in schema auth, which belongs to other; .* grant "other" to "keeper";$/,
    ],
    [
      'a schema of a role of which it inherits nothing',
      'create role other; create schema auth authorization other; alter role keeper noinherit; grant other to keeper',
      /^keeper may not create anything in schema auth, which belongs to other; .* inherit( true)?;$/,
    ],
  ])('a role that may not migrate learns of %s, and of the statement that lets it', async (_of, before, told) => {
    const db = await create({ isolated: true })
    const superuser = db.superuser('restored what belongs to another role')
    await superuser.query(`create role keeper login createrole; ${before}`)
    const url = asRole(db.ownerUrl, 'keeper')
    const said: string[] = []
    const attempt = (): Promise<unknown> =>
      migrateAuth({ url }).catch(async ({ message }: Error) => {
        said.push(message)
        await superuser.query(message.slice(message.lastIndexOf(': ') + 2))
      })
    for (let tries = 0; tries < 4; tries += 1) await attempt()
    expect(said.find((message) => told.test(message))).toBeDefined()
    expect(await migrateAuth({ url })).toEqual([])
  })
})
