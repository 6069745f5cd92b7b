import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authCommand } from '../../compiler/tools/cli/auth.ts'
import { doctorCommand } from '../../compiler/tools/cli/doctor.ts'
import { prepareCommand } from '../../compiler/tools/cli/prepare.ts'
import { runCommand, type CommandAnswer } from '../support/command.ts'
import { majors } from '../support/database.ts'
import { whileServed } from '../support/while-served.ts'
import { createOwnedDatabase, type OwnedDatabase } from '../support/owned-database.ts'

/** Everything works for an owner who may create roles and databases and is no superuser. */

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
  let owned: OwnedDatabase
  beforeAll(async () => {
    owned = await createOwnedDatabase(major)
    await as(owned.ownerUrl, 'create role authenticator login noinherit')
  })
  afterAll(() => owned?.db.drop())

  const run = (...args: readonly string[]): Promise<CommandAnswer> =>
    runCommand([prepareCommand, authCommand, doctorCommand], args, {
      environment: {
        DATABASE_URL: owned.loginUrl,
        DATABASE_OWNER_URL: owned.ownerUrl,
        JWT_SECRET,
        CATALOGRAPH_DATA: '/nowhere',
      },
    })

  it('prepares the database', async () => {
    expect(await run('prepare')).toMatchObject({ exitCode: 0 })
  })

  it('enables auth', async () => {
    expect(await run('auth', 'enable', '--site-url', 'http://localhost:3000')).toMatchObject({ exitCode: 0 })
    expect(await ownersOf(owned)).toEqual([{ owner: 'supabase_auth_admin' }])
    expect(await run('auth', 'status')).toMatchObject({ exitCode: 0 })
  })

  it('is told which table auth may not use, and how that is repaired, which enabling auth does', async () => {
    await owned.db.query(asLeftByOlderVersions)
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

  it('is shown such tables by doctor, and starting the server repairs them', async () => {
    const { db, loginUrl, ownerUrl } = owned
    await db.query(asLeftByOlderVersions)
    const seen = (await run('doctor')).printed
    expect(seen).toMatch(/^FAULT +auth +supabase_auth_admin may not use table catalograph_auth\.accepted_mails, which/m)
    expect(seen).toContain('-> alter table catalograph_auth.settings owner to supabase_auth_admin;')
    await whileServed({ url: loginUrl, adminUrl: ownerUrl }, {}, async () => {
      await expect.poll(() => ownersOf(owned), { timeout: 10_000 }).toEqual([{ owner: 'supabase_auth_admin' }])
    })
    expect((await run('doctor')).printed).toMatch(/^ok +auth +auth may use its tables$/m)
  })
})

/** What they gave away was the schema alone, before its tables. */
const asLeftByOlderVersions = `do $$ declare name text; begin
  foreach name in array array['settings', 'templates', 'settings_version', 'codes', 'totp_steps', 'ambiguous_passwords', 'address_proofs',
    'flow_tries', 'cooldowns', 'throttles', 'bans', 'outbox', 'accepted_mails'] loop
    execute format('alter table catalograph_auth.%I owner to boss', name);
  end loop;
  alter function catalograph_auth.count_settings() owner to boss;
end $$`

const ownersOf = async ({ db }: OwnedDatabase): Promise<readonly unknown[]> =>
  (
    await db.query(`select distinct pg_get_userbyid(owner) as owner from (
      select relowner from pg_class where relnamespace in ('auth'::regnamespace, 'catalograph_auth'::regnamespace) union all
      select proowner from pg_proc where pronamespace = 'catalograph_auth'::regnamespace union all
      select nspowner from pg_namespace where nspname in ('auth', 'catalograph_auth')) o (owner)`)
  ).rows
