import { apiRoles } from '../../engine/summary.ts'
import { ident } from '../../sql/ident.ts'
import { literal } from '../../sql/tree.ts'
import type { Query } from '../connect/session.ts'

/** The worker nodes of a coordinator (Citus), which it reaches as the current role. */

export interface WorkerNode {
  /** pg_dist_node.nodeid. */
  readonly id: number
  readonly host: string
  readonly port: number
}

/** Why requests of a role, or for rows on a node, cannot be answered. */
export type ShardFault =
  | { readonly kind: 'inactive' | 'away'; readonly node: WorkerNode }
  /** Node null: on the coordinator. */
  | { readonly kind: 'no login'; readonly role: string; readonly node: WorkerNode | null }
  | { readonly kind: 'refused'; readonly role: string; readonly node: WorkerNode }

export interface ShardStatus {
  /** The number of worker nodes; 0 without Citus. */
  readonly nodes: number
  readonly faults: readonly ShardFault[]
}

interface NodeRow extends WorkerNode {
  readonly active: boolean
  /** Roles of the API that do not reach the node. */
  readonly refused: readonly string[]
  /** Roles of the API that may log in there; null: the node is unreachable. */
  readonly allowed: readonly string[] | null
}

/** The timeout of a role's connections to the nodes, which are opened in parallel, in milliseconds. */
const connectMs = 2_000

/** The question to each node. */
const allowedSql = `select coalesce(json_agg(rolname), '[]') from pg_catalog.pg_roles
  where rolname in (${apiRoles.map(literal).join(', ')}) and rolcanlogin`

/**
 * Which roles of $1 reach which nodes, tried on new connections: a kept connection does not show whom a node accepts at
 * present. The role changes with each row, for this statement; a lateral item is evaluated for each row of the items
 * before it. The login role is tried as well: a node that it reaches is available, and reports the roles it allows.
 */
const nodesSql = `with tried as materialized (
    select r.rolname::text as role, w.nodename, w.nodeport, w.success, w.result
    from pg_catalog.pg_roles r
    cross join lateral (select
      pg_catalog.set_config('citus.max_cached_conns_per_worker', '0', true),
      pg_catalog.set_config('citus.node_connection_timeout', '${connectMs}', true),
      pg_catalog.set_config('role', r.rolname, true) as now) current
    cross join lateral pg_catalog.run_command_on_workers(case current.now when r.rolname then $2 end) w
    where (r.rolname = any ($1::text[]) or r.rolname = session_user) and r.rolcanlogin)
  select n.nodeid as id, n.nodename as host, n.nodeport as port, n.isactive as active,
    array(select role from tried where (nodename, nodeport) = (n.nodename, n.nodeport) and not success
      and role = any ($1::text[]) order by role) as refused,
    (select result::pg_catalog.json from tried where (nodename, nodeport) = (n.nodename, n.nodeport) and success limit 1) as allowed
  from pg_catalog.pg_dist_node n where n.groupid <> 0 order by n.nodename, n.nodeport`

const isThereSql = `select from pg_catalog.pg_extension where extname = 'citus'`

const noLoginSql = `select rolname::text as role from pg_catalog.pg_roles
  where rolname = any ($1::text[]) and not rolcanlogin order by rolname`

const faultsOfNode = ({ id, host, port, active, refused, allowed }: NodeRow): readonly ShardFault[] => {
  const node = { id, host, port }
  if (!active) return [{ kind: 'inactive', node }]
  if (allowed === null) return [{ kind: 'away', node }]
  return refused.map((role) => ({ kind: allowed.includes(role) ? 'refused' : 'no login', role, node }))
}

const noNodes: ShardStatus = { nodes: 0, faults: [] }

/** Runs as a role that may become those of the API. Rejects with DatabaseFailure. */
export async function readShardStatus(query: Query): Promise<ShardStatus> {
  if ((await query(isThereSql)).rows.length === 0) return noNodes
  const { rows: nodes } = await query<NodeRow>(nodesSql, [apiRoles, allowedSql])
  if (nodes.length === 0) return noNodes
  const { rows: roles } = await query<{ readonly role: string }>(noLoginSql, [apiRoles])
  const here = roles.map(({ role }) => ({ kind: 'no login' as const, role, node: null }))
  return { nodes: nodes.length, faults: [...here, ...nodes.flatMap(faultsOfNode)] }
}

/** The fault and its remedy. */
interface ShardWords {
  readonly message: string
  readonly fix: string
}

/** @param nodeName how the reader knows a node */
export function shardWords(fault: ShardFault, nodeName: (node: WorkerNode) => string): ShardWords {
  switch (fault.kind) {
    case 'inactive':
      return {
        message: `the worker node ${nodeName(fault.node)} is not active`,
        fix: `select citus_activate_node(nodename, nodeport) from pg_dist_node where nodeid = ${fault.node.id};`,
      }
    case 'away':
      return {
        message: `the worker node ${nodeName(fault.node)} cannot be reached`,
        fix: `start it, or name its address by select citus_update_node(${fault.node.id}, 'HOST', PORT); where it runs, let its pg_hba.conf take the roles of the API from the other servers`,
      }
    case 'no login':
      return {
        message:
          fault.node === null
            ? `${fault.role} may not log in, and so reaches no worker node`
            : `${fault.role} may not log in on the worker node ${nodeName(fault.node)}`,
        fix: `alter role ${ident(fault.role)} login;`,
      }
    case 'refused':
      return {
        message: `${fault.role} cannot log in on the worker node ${nodeName(fault.node)}`,
        fix: 'let its pg_hba.conf take the role from the other servers, in the way that they can authenticate it (see its log)',
      }
  }
}
