import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { importCommand } from '../../../../compiler/commands/import.ts'
import { runCommand, type CommandAnswer } from '../../../support/command.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

/** In the form of `supabase db dump`, but short. */
const roles = `
SET statement_timeout = 0;
CREATE ROLE "reader";
ALTER ROLE "authenticator" SET "session_preload_libraries" TO 'safeupdate';
ALTER ROLE "authenticator" SET "pgrst.db_schemas" TO 'public, api';
ALTER ROLE "anon" SET "statement_timeout" TO '3s';
`
const schema = `
-- Dumped by pg_dump version 17.0
SET transaction_timeout = 0;
CREATE SCHEMA "auth";
ALTER SCHEMA "auth" OWNER TO "supabase_admin";
CREATE EXTENSION IF NOT EXISTS "pg_net" WITH SCHEMA "extensions";
CREATE EXTENSION IF NOT EXISTS "citext" WITH SCHEMA "extensions";
CREATE TABLE IF NOT EXISTS "auth"."users" ("id" uuid PRIMARY KEY, "encrypted_password" text);
CREATE TABLE "auth"."saml_providers" (id uuid);
CREATE OR REPLACE FUNCTION "public"."custom_access_token_hook"("event" "jsonb") RETURNS "jsonb"
    LANGUAGE "plpgsql" AS $$ begin return event; end; $$;
CREATE TABLE IF NOT EXISTS "public"."note" ("id" int PRIMARY KEY, "owner" uuid, "text" text);
ALTER TABLE "public"."note" OWNER TO "postgres";
ALTER TABLE "public"."note" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "it's mine" ON "public"."note" FOR SELECT TO "authenticated", "editor" USING (("owner" = "auth"."uid"()));
CREATE POLICY "all to all" ON "public"."note" AS RESTRICTIVE USING (("text" <> ' TO nobody '::text));
CREATE TRIGGER "tell" AFTER INSERT ON "public"."note" FOR EACH ROW EXECUTE FUNCTION "supabase_functions"."http_request"('https://example.com');
CREATE EVENT TRIGGER "pgrst_ddl_watch" ON ddl_command_end EXECUTE FUNCTION "extensions"."pgrst_ddl_watch"();
ALTER PUBLICATION "supabase_realtime" ADD TABLE ONLY "public"."note";
GRANT ALL ON TABLE "public"."note" TO "dashboard_user";
GRANT SELECT ON TABLE "public"."note" TO "reader";
ALTER DEFAULT PRIVILEGES FOR ROLE "postgres" IN SCHEMA "public" GRANT ALL ON TABLES TO "service_role";
`
const data = `
COPY "auth"."users" ("id", "encrypted_password") FROM stdin;
00000000-0000-4000-8000-000000000001	$2a$10$it's; a hash
00000000-0000-4000-8000-000000000002	\\N
\\.

COPY "auth"."identities" ("id", "provider") FROM stdin;
1	email
2	github
\\.

COPY "storage"."buckets" ("id", "name") FROM stdin;
pictures	pictures
\\.
`

const fresh = forSuite(createDatabase, { isolated: true })
/** The old database; pg_graphql is not installed here, so a function stands in its place. */
const old = forSuite(createDatabase, {
  prepare: true,
  sql: `
    create table note (id int primary key, text text);
    alter table note enable row level security;
    create policy short on note for select to anon using (length(text) < 4);
    grant usage on schema public to anon; grant select on note to anon;
    insert into note values (1, 'one'), (2, 'three');
    create schema storage; create table storage.buckets (id text); insert into storage.buckets values ('pictures');
    create function public.send_email_hook(event jsonb) returns jsonb language sql as 'select event';
    create schema graphql; grant usage on schema graphql to anon;
    create function graphql.resolve(query text, variables jsonb) returns jsonb language sql stable as $$
      select jsonb_build_object('data', jsonb_build_object('noteCollection',
        jsonb_build_object('edges', jsonb_agg(jsonb_build_object('node', jsonb_build_object('id', id))))))
      from public.note where query = '{ noteCollection { edges { node { id } } } }' $$;`,
})
let folder = ''
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'))
  mkdirSync(join(folder, 'dump'))
  file('dump/roles.sql', roles)
  file('dump/schema.sql', schema)
  file('dump/data.sql', data)
})

const run = (url: string, ...args: readonly string[]): Promise<CommandAnswer> =>
  runCommand([importCommand], ['import', 'supabase', ...args], {
    environment: { DATABASE_URL: url, DATABASE_OWNER_URL: url },
  })

describe('catalograph import supabase', () => {
  it('names the roles of a dump that the server lacks, the harmless errors, the settings and the rest', async () => {
    const { exitCode, printed, noted } = await run(fresh.ownerUrl, '--dump', join(folder, 'dump'))
    expect([exitCode, noted]).toEqual([0, 'catalograph: the SQL runs; nothing was changed'])
    const [statements = '', steps = ''] = printed.split('-- Steps:')
    expect(statements).toContain('-- named by policies\ncreate role "editor" nologin;')
    expect(statements).toContain('-- named by grants\ncreate role "reader" nologin;')
    for (const role of ['postgres', 'supabase_admin', 'dashboard_user', 'nobody'])
      expect(statements).not.toContain(`create role "${role}"`)
    for (const line of [
      'role "supabase_admin", "dashboard_user" does not exist',
      'extension "pg_net" is not available, and errors of its schema: requests from triggers and functions fail',
      'permission denied to create event trigger: pgrst_ddl_watch',
      'alter role "authenticator" reset session_preload_libraries;',
      'takes over auth.users (2 users)',
      'Set DB_SCHEMAS=public,api',
      'hook public.custom_access_token_hook: it is not called',
      'identities of github (1)',
      'auth.saml_providers',
      'storage (buckets pictures)',
      'realtime of public.note',
      'webhooks tell',
      'edge functions',
    ])
      expect(steps).toContain(line)
    expect(steps).not.toContain('citext')
  })

  it('creates the roles with --apply, after which only the reset of a setting is left', async () => {
    const path = file('one.sql', `${roles}\n${schema}`)
    expect((await run(fresh.ownerUrl, '--dump', path, '--apply')).exitCode).toBe(0)
    expect(
      (
        await fresh.query(
          `select rolname from pg_roles where rolname in ('editor', 'reader', 'authenticator') order by 1`,
        )
      ).rows,
    ).toHaveLength(3)
    await fresh
      .superuser('settings of a role that another made')
      .query(`alter role authenticator set session_preload_libraries = 'safeupdate'`)
    const { printed } = await run(fresh.superuser('resets it').url, '--dump', path)
    expect(printed).not.toContain('create role')
    expect(printed).toContain(
      'begin;\n\n-- A library that this server may lack keeps the role from connecting.\nalter role "authenticator" reset session_preload_libraries;\n\ncommit;',
    )
  })

  it('reads the old database, and compares its answers', async () => {
    const documents = [
      { name: 'graphql', graphql: '{ noteCollection { edges { node { id } } } }' },
      { name: 'sql', sql: 'select id, text from note' },
    ]
    const callers = file('callers.json', JSON.stringify({ role: 'anon', documents }))
    const same = await run(old.ownerUrl, '--from', old.superuser('becomes anon').url, '--compare', callers)
    expect(same.noted).toContain('2 documents compared, 0 differ')
    expect(same.printed).toContain('hook public.send_email_hook')
    expect(same.printed).toContain('buckets pictures')
    await fresh.query(`create table note (id int primary key, text text); insert into note values (1, 'one'), (2, 'three');
      grant usage on schema public to anon; grant select on note to anon`)
    const other = await run(fresh.ownerUrl, '--from', old.superuser('becomes anon').url, '--compare', callers)
    expect(other.exitCode).toBe(1)
    expect(other.noted).toContain('anon, graphql: 1 rows before, 2 after; after alone: {"id":2}')
    expect(other.noted).toContain('anon, sql: 1 rows before, 2 after; after alone: {"id":2,"text":"three"}')
  })

  it.each([
    ['no source', [], 'import supabase takes either --dump FILE or --from URL'],
    ['an archive', ['--dump', 'archive'], 'is an archive of pg_dump; make a text of it'],
    ['a file that is not there', ['--dump', 'none.sql'], 'none.sql cannot be read (ENOENT)'],
  ])('refuses %s', async (_, args, message) => {
    file('archive', 'PGDMP...')
    const given = args.map((one, index) => (index === 1 ? join(folder, one) : one))
    expect(await run(fresh.ownerUrl, ...given)).toMatchObject({ exitCode: 2, noted: expect.stringContaining(message) })
  })
})
