import { PATH } from './queries.ts'
import { bool, eachOf, nullable, oneWordOf, text } from './catalog-rows.ts'
import type { CatalogDistributed, CatalogPolicy } from './catalog.ts'

/** The catalogue of Citus, read by a separate statement: without the extension it cannot be mentioned. */

const policies = `array(
    select pg_catalog.json_build_object('name', y.polname, 'command', y.polcmd, 'permissive', y.polpermissive,
      'everybody', '0'::pg_catalog.oid = any (y.polroles),
      'using', case path.value when '' then pg_catalog.pg_get_expr(y.polqual, y.polrelid) end,
      'check', case path.value when '' then pg_catalog.pg_get_expr(y.polwithcheck, y.polrelid) end)::pg_catalog.text
    from pg_catalog.pg_policy y where y.polrelid = c.oid order by y.polname)`

/** Of all schemas: functions may read other schemas. */
export const distributedQuery = `with ${PATH}
select c.oid::pg_catalog.text as oid, pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) as column,
  p.partmethod = 'n' and p.repmodel = 't' as everywhere, p.colocationid::pg_catalog.text as "group",
  c.relforcerowsecurity as forced, ${policies} as policies
from pg_catalog.pg_dist_partition p
join pg_catalog.pg_class c on c.oid = p.logicalrelid::pg_catalog.oid
cross join path order by c.oid`

/** @throws TypeError if a row has another shape */
export const decodeDistributed = (row: Readonly<Record<string, unknown>>): CatalogDistributed => ({
  oid: text(row['oid']),
  column: nullable(text)(row['column']),
  everywhere: bool(row['everywhere']),
  group: text(row['group']),
  forced: bool(row['forced']),
  policies: eachOf(text)(row['policies']).map((policy) => decodePolicy(JSON.parse(policy))),
})

const decodePolicy = (policy: Readonly<Record<string, unknown>>): CatalogPolicy => ({
  name: text(policy['name']),
  command: oneWordOf('r', 'a', 'w', 'd', '*')(policy['command']),
  permissive: bool(policy['permissive']),
  everybody: bool(policy['everybody']),
  using: nullable(text)(policy['using']),
  check: nullable(text)(policy['check']),
})
