import { Hopeless } from '../../../runtime/lib/retry.ts'
import { didYouMean } from '../../../runtime/lib/text.ts'
import type { CatalogQuery } from '../../catalog/read.ts'

const allSchemas = `select nspname::pg_catalog.text as name from pg_catalog.pg_namespace
  where not pg_catalog.starts_with(nspname::pg_catalog.text, 'pg_')`

/** A missing schema would be served as an empty one. @throws Hopeless with a suggestion, if there is a similar name */
export async function demandSchemas(query: CatalogQuery, schemas: readonly string[]): Promise<void> {
  const { rows } = await query(allSchemas, [])
  const known = rows.map(({ name }) => String(name))
  const missing = schemas.find((schema) => !known.includes(schema))
  if (missing === undefined) return
  const advice = didYouMean(missing, known, JSON.stringify)
  throw new Hopeless(`DB_SCHEMAS names the schema ${JSON.stringify(missing)}, which does not exist${advice}`)
}
