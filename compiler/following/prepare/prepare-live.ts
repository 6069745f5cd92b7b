import { literal } from '../../../runtime/sql/tree.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { leaderView } from '../../../runtime/db/check/live-locks.ts'
import { bodyFunctions } from './live-bodies.ts'
import { feedFunctions, processFunctions } from './live-feed.ts'
import { triggerFunctions } from './live-triggers.ts'
import { migration, ownFunction, ownOid, signature, tableOid, type Migration, type OwnFunction } from './migration.ts'

/** The objects of live queries besides the triggers of live relations (docs/live.md). */

/** Unlogged: after a crash every watch runs again anyway, and a write costs no WAL for it. */
const unlogged = (name: string, columns: string): Migration =>
  migration(
    `table catalograph.${name}`,
    `${tableOid(name)} is not null`,
    `create unlogged table if not exists catalograph.${name} (${columns})`,
  )

const objects: readonly Migration[] = [
  unlogged('live_changes', 'xid xid8 not null, relation oid not null, touched text not null'),
  migration(
    'index catalograph.live_changes_xid',
    `${tableOid('live_changes_xid')} is not null`,
    'create index if not exists live_changes_xid on catalograph.live_changes (xid)',
  ),
  unlogged('live_pruned', 'past pg_snapshot not null'),
  migration(
    `view ${leaderView}`,
    `${tableOid('live_leader')} is not null`,
    `create or replace view ${leaderView} as select true as leads`,
  ),
]

/**
 * PUBLIC and roles of requests, if they have a privilege: functions are executable by PUBLIC by default, and an owner's
 * default privileges may grant more. Other roles keep their grants: a second service may log in as one.
 */
const others = (acl: string, kind: string, owner: string): string =>
  `pg_catalog.aclexplode(coalesce(${acl}, pg_catalog.acldefault('${kind}', ${owner}))) a
      where (a.grantee = 0 or a.grantee in (select r.oid from pg_catalog.pg_roles r
        where r.rolname in ('anon', 'authenticated', 'service_role')))`

const grantees = `select distinct case a.grantee when 0 then 'public'
      else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) end as name`

const revokeOthers = (from: string, object: string): string => `do $$ declare other record; begin
  for other in ${grantees} from ${from} loop
    execute 'revoke all on ${object} from ' || other.name;
  end loop;
end $$`

const closedTable = (name: string): Migration => {
  const from = (table: string): string => `pg_catalog.pg_class c cross join ${table}`
  const rest = others('c.relacl', 'r', 'c.relowner')
  const mine = ` and c.oid = ${tableOid(name)}`
  return migration(
    `catalograph.${name} for nobody else`,
    `${tableOid(name)} is not null and not exists (select from ${from(rest)}${mine})`,
    revokeOthers(from(rest) + mine, `catalograph.${name}`),
  )
}

const closedFunction = (fn: OwnFunction): Migration => {
  const from = `pg_catalog.pg_proc p cross join ${others('p.proacl', 'f', 'p.proowner')} and p.oid = ${ownOid(fn)}`
  return migration(
    `${fn.name} for nobody else`,
    `${ownOid(fn)} is not null and not exists (select from ${from})`,
    revokeOthers(from, `function ${signature(fn)}`),
  )
}

const tableRight =
  (login: string) =>
  ([name, right]: readonly [name: string, right: string]): Migration =>
    migration(
      `${right} on catalograph.${name} for ${login}`,
      `coalesce((select pg_catalog.has_table_privilege(r.oid, ${tableOid(name)}, '${right}')
      from pg_catalog.pg_roles r where r.rolname = ${literal(login)}), false)`,
      `grant ${right} on catalograph.${name} to ${ident(login)}`,
    )

const functionRight =
  (login: string) =>
  (fn: OwnFunction): Migration =>
    migration(
      `execute on ${fn.name} for ${login}`,
      `coalesce((select pg_catalog.has_function_privilege(r.oid, ${ownOid(fn)}, 'EXECUTE')
      from pg_catalog.pg_roles r where r.rolname = ${literal(login)}), false)`,
      `grant execute on function ${signature(fn)} to ${ident(login)}`,
    )

/** Locking a view requires a privilege to change it. */
const rights = [
  ['live_changes', 'select'],
  ['live_pruned', 'select'],
  ['live_leader', 'update'],
] as const

const functions = [...bodyFunctions, ...triggerFunctions, ...feedFunctions]

const onlyLive = (one: Migration): Migration => ({ ...one, onlyLive: true })

export const liveObjects: readonly Migration[] = objects.map(onlyLive)

/** `login`: the login role of the processes that read changes. */
export const liveNeeds = (login: string): readonly Migration[] => allNeeds(login).map(onlyLive)

const allNeeds = (login: string): readonly Migration[] => [
  ...functions.map(ownFunction),
  ...['live_changes', 'live_pruned', 'live_leader'].map(closedTable),
  ...functions.map(closedFunction),
  ...rights.map(tableRight(login)),
  ...processFunctions.map(functionRight(login)),
]
