import { PATH } from './queries.ts'
import { bool, conditions, nullable, text } from './rows.ts'
import type { CatalogDistributed } from './types.ts'

/** The catalogue of Citus, which is read by a statement of its own: where the extension is not, it cannot be mentioned. */

/** A permissive policy counts whomever it is for; a restrictive one binds only those, so that it counts where it is for all. */
const policiesOf = (permissive: boolean): string => `array(
    select case path.value when '' then pg_catalog.pg_get_expr(y.polqual, y.polrelid) end
    from pg_catalog.pg_policy y where y.polrelid = c.oid and y.polcmd in ('r', '*') and y.polpermissive = ${permissive}
      ${permissive ? '' : `and '0'::pg_catalog.oid = any (y.polroles)`}
    order by y.polname)`

/** $1 text[]: the schemas. */
export const distributedQuery = `with ${PATH}
select c.oid::pg_catalog.text as oid, pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) as column,
  c.relforcerowsecurity as forced, ${policiesOf(true)} as permissive, ${policiesOf(false)} as restrictive
from pg_catalog.pg_dist_partition p
join pg_catalog.pg_class c on c.oid = p.logicalrelid::pg_catalog.oid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = any ($1::pg_catalog.text[])
cross join path order by c.oid`

/** @throws TypeError when a row has another shape */
export const decodeDistributed = (row: Readonly<Record<string, unknown>>): CatalogDistributed => ({
  oid: text(row['oid']),
  column: nullable(text)(row['column']),
  forced: bool(row['forced']),
  permissive: conditions(row['permissive']),
  restrictive: conditions(row['restrictive']),
})
