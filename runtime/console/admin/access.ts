import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import type { Caller, RunExchange } from '../../contract/execution.ts'
import { DatabaseFailure, type DatabaseFailureKind } from '../../db/failures/failures.ts'
import { newContext } from '../../http/request-context.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import { qualified } from '../../sql/ident.ts'
import type { AccessAnswer, CommandAccess, PoliciesAnswer } from './answers.ts'
import type { AdminParts, OwnerCall } from './call.ts'
import type * as io from './io.ts'
import { issueToken } from './issue-token.ts'
import { readPrivileges, readTables, type RowCommand, type TableName, type TablePrivileges } from './policies.ts'
import { reachOf } from './row-access.ts'

/** GET /policies */
export async function getPolicies(_call: OwnerCall, { tools, schemas }: AdminParts): Promise<Outcome> {
  return json<PoliciesAnswer>({ tables: await readTables(tools.database, schemas) })
}

/** GET /access: counts, as the role and with the claims of a request, the rows of a table that each command reaches. */
export async function getAccess({ query }: OwnerCall<typeof io.getAccess>, parts: AdminParts): Promise<Outcome> {
  const { schema = '', table: name = '', role = 'anon', user_id: userId } = query
  const caller = userId === undefined ? { role, claims: JSON.stringify({ role }) } : await callerOf(parts, userId)
  const privileges = await readPrivileges(parts.tools.database, parts.schemas, { schema, name }, caller.role)
  if (privileges === null) throw refuse('not_found', 'The served schemas have no such table')
  if (privileges.role === null) throw refuse('validation_failed', 'There is no such role')
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
