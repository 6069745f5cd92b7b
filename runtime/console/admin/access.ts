import { statement, type RunStatement, type StatementsDatabase } from '../../db/pool/statements.ts'
import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import type { Caller, RunExchange } from '../../contract/execution.ts'
import { DatabaseFailure, type DatabaseFailureKind } from '../../db/failures/failures.ts'
import { newContext } from '../../http/request-context.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import { qualified } from '../../sql/ident.ts'
import type { AccessAnswer, CommandAccess, PoliciesAnswer, AdminParts, OwnerCall } from './call.ts'
import type * as io from './io.ts'
import { issueToken } from './issue-token.ts'
import { policyRule, reachOf, type RowPrivileges, type RowCommand } from './reach.ts'

/** Row-level security from the catalogue (PostgreSQL manual, pg_policy). */

export type ShownTable = PoliciesAnswer['tables'][number]
export type ShownPolicy = ShownTable['policies'][number]
export type TableName = Pick<ShownTable, 'schema' | 'name'>

/** Tables of the served schemas, without those of extensions. */
const served = `pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and n.nspname = any($1) and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

const tables = statement<ShownTable>(
  'admin.policies.tables',
  `select n.nspname as schema, c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced, coalesce((
    select json_agg(json_build_object('name', p.polname, ${policyRule},
      'roles', array(select coalesce(r.rolname, 'public') from unnest(p.polroles) given left join pg_roles r on r.oid = given)
    ) order by p.polname)
    from pg_policy p where p.polrelid = c.oid), '[]') as policies
  from ${served} order by 1, 2`,
)

interface TablePrivileges extends TableName, RowPrivileges {
  /** Null: the role does not exist. */
  readonly role: string | null
}

const privileges = statement<TablePrivileges>(
  'admin.policies.privileges',
  `select n.nspname as schema, c.relname as name, r.rolname as role, has_schema_privilege(r.oid, n.oid, 'usage') as usage,
    has_any_column_privilege(r.oid, c.oid, 'select') as "select",
    has_any_column_privilege(r.oid, c.oid, 'insert') as "insert",
    has_any_column_privilege(r.oid, c.oid, 'update') as "update",
    has_table_privilege(r.oid, c.oid, 'delete') as "delete",
    c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage')) as restricted,
    coalesce((select json_agg(json_build_object(${policyRule}))
      from pg_policy p where p.polrelid = c.oid and exists (
        select from unnest(p.polroles) given where given = 0 or pg_has_role(r.oid, given, 'usage'))), '[]') as policies
  from (select c.* from ${served} and n.nspname = $2 and c.relname = $3) c join pg_namespace n on n.oid = c.relnamespace
    left join pg_roles r on r.rolname = $4`,
)

/** With it Postgres qualifies every name of an expression, so that it means the same for other sessions. */
const bareNames = statement('admin.policies.bare-names', `select set_config('search_path', 'pg_catalog', true)`)

const withBareNames = <T>(database: StatementsDatabase, work: (run: RunStatement) => Promise<T>): Promise<T> =>
  database.transaction(async (run) => {
    await run(bareNames)
    return work(run)
  })

/** Null: the schemas have no such table. */
async function readPrivileges(
  database: StatementsDatabase,
  schemas: readonly string[],
  { schema, name }: TableName,
  role: string,
): Promise<TablePrivileges | null> {
  const [found = null] = await withBareNames(database, (run) => run(privileges, [schemas, schema, name, role]))
  return found
}

/** GET /policies */
export async function getPolicies(_call: OwnerCall, { tools, schemas }: AdminParts): Promise<Outcome> {
  return json<PoliciesAnswer>({ tables: await withBareNames(tools.database, (run) => run(tables, [schemas])) })
}

/** GET /access: counts, as the role and with the claims of a request, the rows of a table that each command reaches. */
export async function getAccess({ query }: OwnerCall<typeof io.getAccess>, parts: AdminParts): Promise<Outcome> {
  const { schema = '', table: name = '', role = 'anon', user_id: userId } = query
  const caller = userId === undefined ? { role, claims: JSON.stringify({ role }) } : await callerOf(parts, userId)
  const privileges = await readPrivileges(parts.tools.database, parts.schemas, { schema, name }, caller.role)
  if (privileges === null) throw refuse('not_found', 'The served schemas have no such table')
  if (privileges.role === null) throw refuse('validation_failed', 'The role does not exist')
  return json<AccessAnswer>({ role: caller.role, ...(await accessOf(parts.asCaller, caller, privileges)) })
}

/** As a token of the user would make it. The token is not issued, so there is no audit entry. */
async function callerOf(parts: AdminParts, userId: string): Promise<Caller> {
  const { access_token: token } = await issueToken(parts, userId, async () => undefined)
  const verdict = await parts.verify(token)
  if (verdict.kind === 'refused') throw refuse('bad_jwt')
  return verdict.caller
}

type CommandAccesses = Readonly<Record<RowCommand, CommandAccess>>

/** Sequential: the commands share the connections of requests. */
async function accessOf(run: RunExchange, caller: Caller, found: TablePrivileges): Promise<CommandAccesses> {
  const countRows = (condition: string | null): Promise<CommandAccess> => tryCount(run, caller, found, condition)
  const accessBy = async (command: RowCommand): Promise<CommandAccess> => {
    const reach = reachOf(found, command)
    return reach.kind === 'rows' ? countRows(reach.condition) : reach
  }
  return {
    select: await accessBy('select'),
    insert: await accessBy('insert'),
    update: await accessBy('update'),
    delete: await accessBy('delete'),
  }
}

/** Counting ends here. */
const mostRows = 10_000
const patienceMs = 2_000

/** Counts in a read-only transaction with a time limit, whatever the policies call. */
async function tryCount(
  run: RunExchange,
  caller: Caller,
  { schema, name }: TableName,
  condition: string | null,
): Promise<CommandAccess> {
  const where = condition === null ? '' : ` where ${condition}`
  const text = `select count(*) from (select from ${qualified(schema, name)}${where} limit ${mostRows + 1}) as found`
  const exchange = { caller, version: null, readOnly: true, leaves, statements: [{ name: '', text, values: [] }] }
  try {
    const [row = []] = await run(exchange, newContext({ party: ownerRole, kind: 'service' }, patienceMs))
    const rows = Number(row[0])
    return { kind: 'rows', rows: Math.min(rows, mostRows), more: rows > mostRows }
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || !answered.has(error.kind)) throw error
    return { kind: 'failed', message: error.message }
  }
}

/** Policies may call any function. */
const leaves = { settings: true, session: true }

/** Failures about the table, its policies or the role. */
const answered: ReadonlySet<DatabaseFailureKind> = new Set([
  'refused',
  'role-refused',
  'timeout',
  'deadline',
  'resource-limit',
  'across-shards',
])
