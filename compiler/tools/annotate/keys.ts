import type { Query } from '../../../runtime/db/connect/session.ts'
import { ident, qualified } from '../../../runtime/sql/ident.ts'
import { notNullKey } from '../../catalog/not-null-key.ts'
import type { Catalog, CatalogRelation } from '../../catalog/types.ts'
import type { Wish } from './comments.ts'
import type { NamedDatabase } from './database.ts'

/**
 * Keys of relations without a primary key. For a view it is the primary key of a table that the view reads, where the view
 * shows its columns under their names; for a table the columns of a unique index. Columns that are nowhere NOT NULL may be
 * null, and a view may repeat a row, so the rows of today are looked at.
 */
export async function keyWishes(query: Query, catalog: Catalog, database: NamedDatabase): Promise<readonly Wish[]> {
  const keyless = catalog.relations.filter(
    (relation) =>
      relation.primaryKey === null && !database.isNamed({ kind: 'relation', relation }, 'primary_key_columns'),
  )
  const wishes: Wish[] = []
  for (const relation of keyless) {
    const key = await keyOf(query, relation)
    if (key !== null) wishes.push({ on: { kind: 'relation', relation }, settings: { primary_key_columns: key } })
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

async function keyOf(query: Query, relation: CatalogRelation): Promise<readonly string[] | null> {
  const declared = notNullKey(relation)
  if (declared !== null) return declared
  for (const columns of await candidatesOf(query, relation)) {
    if (await isKey(query, relation, columns)) return columns
  }
  return null
}

async function candidatesOf(query: Query, relation: CatalogRelation): Promise<readonly (readonly string[])[]> {
  const names = new Set(relation.columns.map(({ name }) => name))
  const { rows } = await query<{ readonly columns: readonly string[] }>(keysBelowSql, [relation.oid])
  const below = rows.map(({ columns }) => columns).filter((columns) => columns.every((column) => names.has(column)))
  return [...relation.uniques, ...below]
}

/** Relations that take longer, or may not be read, get no key. */
const limitMs = 5_000

async function isKey(query: Query, { schema, name }: CatalogRelation, columns: readonly string[]): Promise<boolean> {
  const list = columns.map(ident).join(', ')
  const relation = qualified(schema, name)
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
