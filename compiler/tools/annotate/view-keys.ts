import type { Query } from '../../../runtime/db/connect/session.ts'
import { ident, qualified } from '../../../runtime/sql/ident.ts'
import type { Catalog, CatalogRelation } from '../../catalog/types.ts'
import type { Wish } from './comments.ts'
import type { NamedDatabase } from './database.ts'

/**
 * Keys of views: the primary key of a table that the view reads, where the view shows its columns under their names and
 * its rows hold each value once. A key of which rows hold several is no key, so the rows of today are looked at.
 */
export async function viewKeyWishes(query: Query, catalog: Catalog, database: NamedDatabase): Promise<readonly Wish[]> {
  const views = catalog.relations.filter(
    (relation) =>
      (relation.kind === 'v' || relation.kind === 'm') &&
      relation.primaryKey === null &&
      !database.isNamed({ kind: 'relation', relation }, 'primary_key_columns'),
  )
  const wishes: Wish[] = []
  for (const view of views) {
    const key = await keyOf(query, view)
    if (key !== null) wishes.push({ on: { kind: 'relation', relation: view }, settings: { primary_key_columns: key } })
  }
  return wishes
}

/** Primary keys of the tables that a view reads, in the order in which its rule names them. */
const keysBelowSql = `select array(
      select a.attname::text from pg_catalog.unnest(i.indkey) with ordinality k(number, place)
      join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number order by k.place) as columns
  from pg_catalog.pg_index i where i.indisprimary and i.indrelid in (
    select d.refobjid from pg_catalog.pg_rewrite r join pg_catalog.pg_depend d on d.objid = r.oid
    where r.ev_class = $1::oid and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> r.ev_class)
  order by i.indrelid`

async function keyOf(query: Query, view: CatalogRelation): Promise<readonly string[] | null> {
  const names = new Set(view.columns.map(({ name }) => name))
  const { rows } = await query<{ readonly columns: readonly string[] }>(keysBelowSql, [view.oid])
  for (const { columns } of rows) {
    if (columns.every((column) => names.has(column)) && (await isKey(query, view, columns))) return columns
  }
  return null
}

/** Views that take longer, or may not be read, get no key. */
const limitMs = 5_000

async function isKey(query: Query, view: CatalogRelation, columns: readonly string[]): Promise<boolean> {
  const list = columns.map(ident).join(', ')
  const relation = qualified(view.schema, view.name)
  const isNull = columns.map((column) => `${ident(column)} is null`).join(' or ')
  const text = `select exists (select from ${relation} where ${isNull})
      or exists (select from ${relation} group by ${list} having pg_catalog.count(*) > 1) as broken`
  await query('begin read only')
  try {
    await query(`set local statement_timeout = ${limitMs}`)
    const { rows } = await query<{ readonly broken: boolean }>(text)
    return rows[0]?.broken === false
  } catch {
    return false
  } finally {
    await query('rollback')
  }
}
