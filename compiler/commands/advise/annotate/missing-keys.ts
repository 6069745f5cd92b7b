import type { Manifest } from '../../../../runtime/contract/manifest.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { ident, qualified } from '../../../../runtime/sql/ident.ts'
import { notNullKey, type Catalog, type CatalogRelation } from '../../../catalog/catalog.ts'
import type { Wish } from './comments.ts'
import type { NamedDatabase } from './in-database.ts'
import { rootFieldsFor } from './claims.ts'

/**
 * Keys of relations without a primary key. For a view it is the primary key of a table that the view reads, if the view
 * shows its columns under their names; for a table the columns of a unique index. Nullable columns may contain nulls,
 * and a view may repeat a row: the present rows are checked, and the file explains the effect on others. A relation
 * whose root fields would take the name of a function gets none.
 */
export async function keyWishes(
  query: Query,
  catalog: Catalog,
  database: NamedDatabase,
  manifest: Manifest,
): Promise<readonly Wish[]> {
  const calls = new Set(manifest.functions.map(({ field }) => field))
  const mayBeRoot = ({ schema, name }: CatalogRelation): boolean => {
    const type = database.entity(objectId(schema, name))?.name ?? name
    return ![false, true].flatMap((isMutation) => rootFieldsFor(type, isMutation)).some((field) => calls.has(field))
  }
  const keyless = catalog.relations.filter(
    (relation) =>
      relation.primaryKey === null &&
      !database.isNamed({ kind: 'relation', relation }, 'primary_key_columns') &&
      mayBeRoot(relation),
  )
  const wishes: Wish[] = []
  for (const relation of keyless) {
    const key = await findKey(query, relation)
    if (key === null) continue
    const { columns, remarks } = key
    wishes.push({ on: { kind: 'relation', relation }, settings: { primary_key_columns: columns }, remarks })
  }
  return wishes
}

interface FoundKey {
  readonly columns: readonly string[]
  readonly remarks: readonly string[]
}

/** Primary keys of the tables that a view reads, in the order of its rule. */
const keysBelowSql = `select array(
      select a.attname::text from pg_catalog.unnest(i.indkey) with ordinality k(number, place)
      join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number order by k.place) as columns
  from pg_catalog.pg_index i where i.indisprimary and i.indrelid in (
    select d.refobjid from pg_catalog.pg_rewrite r join pg_catalog.pg_depend d on d.objid = r.oid
    where r.ev_class = $1::oid and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> r.ev_class)
  order by i.indrelid`

async function findKey(query: Query, relation: CatalogRelation): Promise<FoundKey | null> {
  const declared = notNullKey(relation)
  if (declared !== null) return { columns: declared, remarks: [] }
  for (const columns of await candidatesOf(query, relation)) {
    if (await isKey(query, relation, columns)) return { columns, remarks: remarksOn(relation, columns) }
  }
  return null
}

function remarksOn({ kind, schema, name, columns }: CatalogRelation, key: readonly string[]): readonly string[] {
  const nullable = key.filter((column) => columns.find((one) => one.name === column)?.notNull !== true).map(ident)
  const relation = qualified(schema, name)
  const sets = nullable.map((column) => `alter column ${column} set not null`).join(', ')
  return kind === 'r' || kind === 'p'
    ? [
        `Today no row of ${relation} has a null in ${nullable.join(' or ')}. One that has is in no collection, count, update or delete.`,
        `So that there is none: alter table ${relation} ${sets};`,
      ]
    : [
        `Today the rows of ${relation} have no null in ${nullable.join(' or ')}, and no two have the same; nothing keeps it so.`,
        'A row with a null there is in no collection, count, update or delete, and rows with the same values have one node id.',
      ]
}

async function candidatesOf(query: Query, relation: CatalogRelation): Promise<readonly (readonly string[])[]> {
  const names = new Set(relation.columns.map(({ name }) => name))
  const { rows } = await query<{ readonly columns: readonly string[] }>(keysBelowSql, [relation.oid])
  const below = rows.map(({ columns }) => columns).filter((columns) => columns.every((column) => names.has(column)))
  return [...relation.uniques, ...below]
}

/** Relations that take longer, cannot be read or are empty get no key. */
const limitMs = 5_000

async function isKey(query: Query, { schema, name }: CatalogRelation, columns: readonly string[]): Promise<boolean> {
  const list = columns.map(ident).join(', ')
  const relation = qualified(schema, name)
  const isNull = columns.map((column) => `${ident(column)} is null`).join(' or ')
  const text = `select not exists (select from ${relation}) or exists (select from ${relation} where ${isNull})
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
