import { accessClaims, type ClaimUser } from '../../../runtime/auth/secrets/access-tokens.ts'
import type { Caller } from '../../../runtime/contract/execution.ts'
import { claimSettings } from '../../../runtime/db/check/claims.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { extensionSchema, startupSettings } from '../../../runtime/db/connect/startup.ts'
import { isJsonObject, tryParseJson } from '../../../runtime/lib/json.ts'
import { reasonOf } from '../../../runtime/db/failures/failures.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { CommandFailure, misuse } from '../command.ts'
import { demandRole } from '../demand-role.ts'
import type { ActorRow } from './expectations.ts'

export interface TriedActor extends Caller {
  readonly name: string
  readonly guest: boolean
}

/** Runs `work` in the transaction, and takes back what it did and set. */
export async function undone<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query('savepoint catalograph_trial')
  try {
    return await work()
  } finally {
    await query('rollback to savepoint catalograph_trial; release savepoint catalograph_trial')
  }
}

/** Within `undone`: as a request of the caller, with the search path of requests. */
export async function become(query: Query, { role, claims }: Caller, schemas: readonly string[]): Promise<void> {
  const { names, values } = claimSettings(claims)
  const { search_path: path = '' } = startupSettings([...schemas, extensionSchema], 0)
  await query(
    'select pg_catalog.set_config(name, value, true) from rows from (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) as given(name, value)',
    [
      ['search_path', 'request.jwt.claims', ...names],
      [path, claims, ...values],
    ],
  )
  await query(`set local role ${ident(role)}`)
}

/**
 * The actors with their claims. The connection's role takes membership in their roles where it lacks it, for this
 * transaction. Rejects with CommandFailure.
 */
export async function findActors(query: Query, rows: readonly ActorRow[]): Promise<readonly TriedActor[]> {
  const actors: TriedActor[] = []
  for (const row of rows) {
    await demandRole(query, row.role)
    const claims = await claimsOf(query, row)
    actors.push({
      name: row.name,
      role: row.role,
      claims: JSON.stringify(claims),
      guest: claims['is_anonymous'] === true,
    })
  }
  for (const role of new Set(rows.map((one) => one.role))) await joinRole(query, role)
  return actors
}

async function claimsOf(query: Query, { name, role, claims }: ActorRow): Promise<Readonly<Record<string, unknown>>> {
  if (claims === '') return { role }
  if (!claims.startsWith('{')) return { ...(await claimsOfUser(query, claims, name)), role }
  const parsed = tryParseJson(claims)
  if (!isJsonObject(parsed)) throw misuse(`the claims of the actor ${name} are not a JSON object: ${claims}`)
  return { role, ...parsed }
}

const userSql = `select id::text, aud, role, email, phone, raw_app_meta_data, raw_user_meta_data, is_anonymous
  from auth.users where (id::text = $1 or pg_catalog.lower(email::text) = $1) and deleted_at is null`

/** As a token of the user has them. */
async function claimsOfUser(query: Query, user: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await query<ClaimUser>(userSql, [user.toLowerCase()]).catch((error: unknown) => {
    throw new CommandFailure(`the actor ${name} is the user ${user}, and auth.users cannot be read: ${reasonOf(error)}`)
  })
  const [found] = rows
  if (found === undefined)
    throw new CommandFailure(
      `the actor ${name} is the user ${user}, whom auth.users does not have: insert the user in the SQL of the file, or write claims as JSON`,
    )
  const now = Math.floor(Date.now() / 1000)
  const usual = { external_url: '', jwt_exp: 3600, jwt_aud: 'authenticated', jwt_default_role: 'authenticated' }
  return accessClaims({ user: found, session: null, now }, usual)
}

/** A role that may create roles is not a member of those that it created (manual, CREATE ROLE), but may become one. */
async function joinRole(query: Query, role: string): Promise<void> {
  const succeeds = (sql: string): Promise<boolean> =>
    query('savepoint catalograph_join')
      .then(() => query(sql))
      .then(
        () => true,
        () => query('rollback to savepoint catalograph_join').then(() => false),
      )
  const mayBecome = (): Promise<boolean> => succeeds(`set local role ${ident(role)}; set local role none`)
  if (await mayBecome()) return
  // Without the rights of the role, where Postgres can grant that (PostgreSQL 16).
  const grant = `grant ${ident(role)} to current_user`
  if ((await succeeds(`${grant} with inherit false, set true`)) || (await succeeds(grant))) {
    if (await mayBecome()) return
  }
  const { rows } = await query<{ readonly name: string }>('select current_user::text as name')
  const login = rows[0]?.name ?? ''
  throw new CommandFailure(`${login} may not become ${role}: grant ${ident(role)} to ${ident(login)};`)
}

const guestId = '00000000-0000-4000-8000-00000000000a'
const userId = '00000000-0000-4000-8000-00000000000b'

/** The actors of a database without a file: the roles of the API that exist. */
export async function usualActors(query: Query): Promise<readonly ActorRow[]> {
  const { rows } = await query<{ readonly name: string }>(
    `select rolname::text as name from pg_catalog.pg_roles where rolname in ('anon', 'authenticated', 'service_role')`,
  )
  const usual: readonly ActorRow[] = [
    { name: 'anon', role: 'anon', claims: '' },
    { name: 'user', role: 'authenticated', claims: (await firstUser(query)) ?? JSON.stringify({ sub: userId }) },
    { name: 'guest', role: 'authenticated', claims: JSON.stringify({ sub: guestId, is_anonymous: true }) },
    { name: 'service_role', role: 'service_role', claims: '' },
  ]
  return usual.filter(({ role }) => rows.some(({ name }) => name === role))
}

const firstUserSql = `select email::text as email from auth.users
  where not is_anonymous and email is not null and deleted_at is null order by created_at, id limit 1`

const firstUser = (query: Query): Promise<string | null> =>
  undone(query, () =>
    query<{ readonly email: string }>(firstUserSql).then(
      ({ rows }) => rows[0]?.email ?? null,
      () => null,
    ),
  )
