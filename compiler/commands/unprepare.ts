import { DatabaseFailure } from '../../runtime/db/failures/failures.ts'
import { withSession, type Query } from '../../runtime/db/connect/session.ts'
import { CommandFailure, exitCodes, type Command, type Terminal } from './command.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'

/** The inverse of `prepare`, and of `auth enable`. */
export const unprepareCommand: Command = {
  name: 'unprepare',
  summary: 'Take out of the database what prepare and serve made in it.',
  description:
    'Drops schema catalograph of the database of DATABASE_OWNER_URL, or of DATABASE_URL, with the event triggers, the\n' +
    'triggers of live tables and the list of revoked keys. Servers must be stopped before: they would make it again.\n' +
    'Schema auth stays, since policies call its functions, and so do users, settings of auth and roles.\n' +
    'With --with-users schemas auth and catalograph_auth are dropped too: every user, session and setting of auth.\n' +
    'With --sql it changes nothing, and prints the statements.',
  options: {
    'with-users': { value: null, help: 'Drop schemas auth and catalograph_auth too, with all users.' },
    sql: { value: null, help: 'Print the statements, and change nothing.' },
  },
  run: async (given, terminal) => {
    const url = await ownerUrl(neededSettingsOf(terminal))
    const schemas = given['with-users'] === true ? ['catalograph', 'catalograph_auth', 'auth'] : ['catalograph']
    return withSession({ url }, (query) =>
      given['sql'] === true ? printDrops(query, schemas, terminal) : runDrops(query, schemas, terminal),
    )
  },
}

/** Live tables are locked: a longer wait would hold up every request behind it. */
const lockTimeoutMs = 3_000

async function printDrops(query: Query, schemas: readonly string[], terminal: Terminal): Promise<number> {
  const there = await existingOf(query, schemas)
  for (const dependent of await dependents(query, there))
    terminal.note(`catalograph: ${dependent} depends on schema auth`)
  if (there.length === 0) terminal.note(nothingThere)
  else terminal.print(there.map((schema) => `${dropOf(schema)};`).join('\n'))
  return exitCodes.done
}

async function runDrops(query: Query, schemas: readonly string[], terminal: Terminal): Promise<number> {
  const there = await existingOf(query, schemas)
  await refuseUsed(query, there)
  await dropAll(query, there)
  for (const schema of there) terminal.print(`schema ${schema} is dropped`)
  if (there.length === 0) terminal.note(nothingThere)
  terminal.print(
    `roles stay, since other databases may use them; for each that none uses: drop owned by ROLE; drop role ROLE; (${roles.join(', ')})`,
  )
  return exitCodes.done
}

const nothingThere = 'catalograph: the database is not prepared'
const roles = ['anon', 'authenticated', 'service_role', 'authenticator', 'supabase_auth_admin']

const dropOf = (schema: string): string => `drop schema if exists ${schema} cascade`

async function existingOf(query: Query, schemas: readonly string[]): Promise<readonly string[]> {
  const { rows } = await query<{ name: string }>(
    'select nspname::text as name from pg_catalog.pg_namespace where nspname = any ($1::text[])',
    [schemas],
  )
  const names = rows.map(({ name }) => name)
  return schemas.filter((schema) => names.includes(schema))
}

async function refuseUsed(query: Query, there: readonly string[]): Promise<void> {
  const { rows } = await query<{ count: number }>(
    `select count(*)::int as count from pg_catalog.pg_stat_activity
    where datname = current_database() and application_name = 'catalograph' and pid <> pg_catalog.pg_backend_pid()`,
  )
  const count = rows[0]?.count ?? 0
  if (count > 0)
    throw new CommandFailure(
      `${count} connections of servers are open: stop these before, they would prepare the database again`,
    )
  const found = await dependents(query, there)
  if (found.length > 0)
    throw new CommandFailure(
      `these depend on schema auth, and would be dropped with it: drop them before\n  ${found.join('\n  ')}`,
    )
}

/** Objects outside of schema auth that need one within it: policies, foreign keys, views, defaults. */
async function dependents(query: Query, there: readonly string[]): Promise<readonly string[]> {
  if (!there.includes('auth')) return []
  const { rows } = await query<{ name: string }>(`
    with own (class, oid) as (
      select 'pg_catalog.pg_class'::regclass, oid from pg_catalog.pg_class where relnamespace = 'auth'::regnamespace
      union all
      select 'pg_catalog.pg_proc'::regclass, oid from pg_catalog.pg_proc where pronamespace = 'auth'::regnamespace
      union all
      select 'pg_catalog.pg_type'::regclass, oid from pg_catalog.pg_type where typnamespace = 'auth'::regnamespace
    )
    select distinct o.type || ' ' || o.identity as name
    from pg_catalog.pg_depend d
    join own on d.refclassid = own.class and d.refobjid = own.oid,
    lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) o
    where d.deptype in ('n', 'a') and coalesce(o.schema, '') not in ('auth', 'catalograph', 'catalograph_auth', 'pg_toast')
      and o.identity !~ '^(for |.* on )?(auth|catalograph|catalograph_auth)[.]'
    order by 1`)
  return rows.map(({ name }) => name)
}

/** All or none. */
async function dropAll(query: Query, schemas: readonly string[]): Promise<void> {
  await query('begin')
  try {
    await query(`set local lock_timeout = ${lockTimeoutMs}`)
    for (const schema of schemas) await query(dropOf(schema))
    await query('commit')
  } catch (error) {
    await query('rollback').catch(() => undefined)
    if (!(error instanceof DatabaseFailure)) throw error
    throw new CommandFailure(`the database refused, and nothing was changed: ${error.message}`)
  }
}
