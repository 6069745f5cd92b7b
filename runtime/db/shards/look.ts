import { apiRoles } from '../../engine/summary.ts'
import { ident } from '../../sql/ident.ts'
import type { Query } from '../connect/session.ts'

/** What a coordinator (Citus) tells of its worker nodes, which it reaches as the role that is current. */

export interface WorkerNode {
  /** pg_dist_node.nodeid. */
  readonly id: number
  readonly host: string
  readonly port: number
}

/** Why requests of a role, or what lies on a node, cannot be answered. */
export type ShardFault =
  | { readonly kind: 'inactive' | 'away'; readonly node: WorkerNode }
  | { readonly kind: 'no login'; readonly role: string }
  | { readonly kind: 'refused'; readonly role: string; readonly node: WorkerNode }

export interface ShardSight {
  /** How many worker nodes there are. */
  readonly nodes: number
  readonly faults: readonly ShardFault[]
}

interface NodeRow extends WorkerNode {
  readonly active: boolean
  /** Roles that reach the node, and those that do not. */
  readonly reaching: readonly string[]
  readonly refused: readonly string[]
}

/** For how many milliseconds a role waits for the nodes, which it reaches side by side. */
const connectMs = 2_000

/**
 * Which roles of $1 reach which nodes, tried on connections of their own: one that is kept tells nothing of what a node lets in
 * now. The role changes with each row, for this statement; a lateral item is evaluated for each row of those before it.
 */
const nodesSql = `with tried as materialized (
    select r.rolname::text as role, w.nodename, w.nodeport, w.success
    from pg_catalog.pg_roles r
    cross join lateral (select
      pg_catalog.set_config('citus.max_cached_conns_per_worker', '0', true),
      pg_catalog.set_config('citus.node_connection_timeout', '${connectMs}', true),
      pg_catalog.set_config('role', r.rolname, true) as now) current
    cross join lateral pg_catalog.run_command_on_workers(case current.now when r.rolname then 'select 1' end) w
    where r.rolname = any ($1::text[]) and r.rolcanlogin)
  select n.nodeid as id, n.nodename as host, n.nodeport as port, n.isactive as active,
    array(select role from tried where (nodename, nodeport) = (n.nodename, n.nodeport) and success) as reaching,
    array(select role from tried where (nodename, nodeport) = (n.nodename, n.nodeport) and not success order by role) as refused
  from pg_catalog.pg_dist_node n where n.groupid <> 0 order by n.nodename, n.nodeport`

const noLoginSql = `select rolname::text as role from pg_catalog.pg_roles
  where rolname = any ($1::text[]) and not rolcanlogin order by rolname`

const faultsOfNode = ({ id, host, port, active, reaching, refused }: NodeRow): readonly ShardFault[] => {
  const node = { id, host, port }
  if (!active) return [{ kind: 'inactive', node }]
  if (reaching.length === 0 && refused.length > 0) return [{ kind: 'away', node }]
  return refused.map((role) => ({ kind: 'refused', role, node }))
}

/** As a role that may become those of the API. Rejects with DatabaseFailure, also where Citus is not. */
export async function lookAtShards(query: Query): Promise<ShardSight> {
  const { rows: nodes } = await query<NodeRow>(nodesSql, [apiRoles])
  if (nodes.length === 0) return { nodes: 0, faults: [] }
  const { rows: roles } = await query<{ readonly role: string }>(noLoginSql, [apiRoles])
  const faults = [...roles.map(({ role }) => ({ kind: 'no login' as const, role })), ...nodes.flatMap(faultsOfNode)]
  return { nodes: nodes.length, faults }
}

/** What is wrong, and what to do about it. */
interface ShardWords {
  readonly message: string
  readonly fix: string
}

/** @param nodeName what the reader may know a node by */
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
        message: `${fault.role} may not log in, and so reaches no worker node`,
        fix: `alter role ${ident(fault.role)} login;`,
      }
    case 'refused':
      return {
        message: `${fault.role} cannot log in on the worker node ${nodeName(fault.node)}`,
        fix: `see the log of the node: alter role ${ident(fault.role)} login; there, or let its pg_hba.conf take the role from the other servers`,
      }
  }
}
