import type { EntityFacts, Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import type { Advice } from '../../../runtime/graphql/report/report-limits.ts'
import { ident, qualified } from '../../../runtime/sql/ident.ts'
import { nameObject } from '../../catalog/diagnostics/object-name.ts'

/** Rows with a null in their key are in no answer or change (spec/graphql.md 5.8); only their owner would notice. */
const problem = 'rows without a key are in no page'

/** Counting ends here. */
const most = 1_000

/** For all relations together: relations that are not counted by then, or cannot be read, are left out. */
const limitMs = 10_000

/** Counts the rows of every relation with a nullable key, as the owner. It only reads. */
export async function keylessRows(query: Query, { entities }: Pick<Manifest, 'entities'>): Promise<readonly Advice[]> {
  const until = performance.now() + limitMs
  const found: Advice[] = []
  for (const entity of entities) {
    const columns = looseKey(entity)
    const leftMs = Math.floor(until - performance.now())
    if (columns.length === 0 || leftMs < 1) continue
    const rows = await countRows(query, entity, columns, leftMs)
    if (rows > 0) found.push(adviceOn(entity, columns, rows))
  }
  return found
}

const looseKey = ({ key, columns }: EntityFacts): readonly string[] =>
  key.filter((name) => columns.some(({ column, notNull }) => column === name && !notNull))

async function countRows(
  query: Query,
  { schema, relation }: EntityFacts,
  columns: readonly string[],
  leftMs: number,
): Promise<number> {
  const isNull = columns.map((column) => `${ident(column)} is null`).join(' or ')
  const text = `select pg_catalog.count(*)::pg_catalog.int4 as rows
    from (select from ${qualified(schema, relation)} where ${isNull} limit ${most}) x`
  await query('begin read only')
  try {
    await query(`set local statement_timeout = ${leftMs}`)
    return (await query<{ readonly rows: number }>(text)).rows[0]?.rows ?? 0
  } catch {
    return 0
  } finally {
    await query('rollback')
  }
}

function adviceOn({ schema, relation, kind }: EntityFacts, columns: readonly string[], rows: number): Advice {
  const name = qualified(schema, relation)
  const number = rows === most ? `${most} rows or more` : rows === 1 ? '1 row' : `${rows} rows`
  const [have, are] = rows === 1 ? ['has', 'is'] : ['have', 'are']
  const object = nameObject(kind, schema, relation)
  const notNull = columns.map((column) => `alter column ${ident(column)} set not null`).join(', ')
  return {
    problem,
    object,
    message: `${number} of ${object} ${have} no key (a null in ${columns.join(', ')}) and ${are} in no page, total or change.`,
    sql:
      kind === 'table'
        ? `alter table ${name} ${notNull}; -- once they have values; or name another key by comment`
        : '-- Leave them out of it, or name another key by comment.',
  }
}
