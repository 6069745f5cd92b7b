import { withSession, type Query } from '../../../runtime/db/connect/session.ts'
import { apiRoles } from '../../../runtime/engine/summary.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/literal.ts'
import { fault, ok, type Finding } from './findings.ts'

/** Of Citus: whether the coordinator reaches each worker node, as the owner and as each role of the API. */

const check = 'citus'

const distributesSql = `select from pg_catalog.pg_extension where extname = 'citus'`

interface WorkerNode {
  readonly host: string
  readonly port: number
  readonly active: boolean
}

const nodesSql = `select nodename as host, nodeport as port, isactive as active
  from pg_catalog.pg_dist_node where groupid <> 0 order by nodename, nodeport`

const nodeName = ({ host, port }: WorkerNode): string => `${host}:${port}`

const inactiveFinding = (node: WorkerNode): Finding =>
  fault(
    check,
    `the worker node ${nodeName(node)} is not active`,
    `select citus_activate_node(${literal(node.host)}, ${node.port});`,
  )

interface Reached extends WorkerNode {
  readonly success: boolean
}

const reachSql = `select nodename as host, nodeport as port, true as active, success
  from pg_catalog.run_command_on_workers('select 1') order by nodename, nodeport`

const unreached = async (query: Query): Promise<readonly Reached[]> =>
  (await query<Reached>(reachSql)).rows.filter(({ success }) => !success)

const awayFinding = (node: Reached): Finding =>
  fault(
    check,
    `the worker node ${nodeName(node)} cannot be reached`,
    `start it, or name its address by select citus_update_node(nodeid, 'host', port) from pg_dist_node; a node without shards leaves by select citus_remove_node(${literal(node.host)}, ${node.port});`,
  )

const canLogInSql = 'select rolcanlogin as "mayLogIn" from pg_catalog.pg_roles where rolname = $1'

/** Workers are reached as the role that is current on the coordinator. */
async function roleFindings(query: Query, role: string): Promise<readonly Finding[]> {
  const { rows } = await query<{ readonly mayLogIn: boolean }>(canLogInSql, [role])
  if (rows[0]?.mayLogIn === false)
    return [fault(check, `${role} may not log in, and so reaches no worker node`, `alter role ${ident(role)} login;`)]
  await query(`set role ${ident(role)}`)
  const nodes = await unreached(query)
  await query('reset role')
  return nodes.map((node) =>
    fault(
      check,
      `${role} cannot log in on the worker node ${nodeName(node)}`,
      `see the log of the node: alter role ${ident(role)} login; there, or let its pg_hba.conf take the role from the other servers`,
    ),
  )
}

const eachRole = (loginUrl: string): Promise<readonly Finding[]> =>
  withSession({ url: loginUrl }, async (query) => {
    const found: Finding[] = []
    for (const role of apiRoles) found.push(...(await roleFindings(query, role)))
    return found
  })

/** Rejects where the owner may not look. A role that may not be become is told of with the roles. */
export async function shardFindings(query: Query, loginUrl: string): Promise<readonly Finding[]> {
  if ((await query(distributesSql)).rows.length === 0) return []
  const { rows: nodes } = await query<WorkerNode>(nodesSql)
  const away = [
    ...nodes.filter(({ active }) => !active).map(inactiveFinding),
    ...(await unreached(query)).map(awayFinding),
  ]
  const found = away.length > 0 ? away : await eachRole(loginUrl)
  return found.length > 0 ? found : [ok(check, `each role of the API reaches ${nodes.length} worker nodes`)]
}
