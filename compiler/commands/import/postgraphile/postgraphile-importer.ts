import { withSession, type Query } from '../../../../runtime/db/connect/session.ts'
import { readCatalog } from '../../../catalog/read.ts'
import { misuse, textOption } from '../../command.ts'
import { readGiven } from '../../given-documents.ts'
import { readCallers } from '../comparison.ts'
import type { Importer } from '../importer.ts'
import { askServer, expectedRows } from '../old-server.ts'
import { importPostgraphile, type ClaimReader } from './postgraphile.ts'
import { tagsOfFile } from './smart-tags.ts'

/** Policies and functions whose text names a setting of PostGraphile. */
const readersSql = `select distinct name, found[1] as setting from (
    select 'function ' || n.nspname || '.' || p.proname, p.prosrc from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
      where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'catalograph')
    union all
    select 'policy ' || p.policyname || ' of ' || p.schemaname || '.' || p.tablename, pg_catalog.concat(p.qual, ' ', p.with_check) from pg_catalog.pg_policies p
  ) texts (name, body), pg_catalog.regexp_matches(body, 'jwt\\.claims\\.\\w+', 'g') found order by 1, 2`

const readReaders = async (query: Query): Promise<readonly ClaimReader[]> => (await query<ClaimReader>(readersSql)).rows

/** Tags of objects that have no settings: keys, checks and schemas. */
const straysSql = `select object || ': ' || pg_catalog.split_part(pg_catalog.btrim(description, E' \\n'), E'\\n', 1) as line from (
    select 'constraint ' || n.nspname || '.' || c.relname || '.' || k.conname, pg_catalog.obj_description(k.oid, 'pg_constraint')
      from pg_catalog.pg_constraint k join pg_catalog.pg_class c on c.oid = k.conrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where k.contype <> 'f' and n.nspname::text = any ($1)
    union all
    select 'schema ' || n.nspname, pg_catalog.obj_description(n.oid, 'pg_namespace') from pg_catalog.pg_namespace n where n.nspname::text = any ($1)
  ) commented (object, description) where description ~ '^\\s*@(?!graphql)' order by 1`

const readStrays = async (query: Query, schemas: readonly string[]): Promise<readonly string[]> =>
  (await query<{ readonly line: string }>(straysSql, [schemas])).rows.map(({ line }) => line)

export const fromPostgraphile: Importer = async (
  given,
  { settings: { schemas }, url, args: [path, ...more] },
  terminal,
) => {
  if (more.length > 0) throw misuse('import postgraphile takes one file of tags at most')
  const entries = path === undefined ? [] : tagsOfFile(readGiven(path, 'import postgraphile'), path)
  const compare = textOption(given, 'compare')
  const endpoint = textOption(given, 'endpoint')
  const callers = compare === null ? [] : readCallers(compare)
  terminal.stage('Reading the database')
  const [catalog, readers, strays] = await withSession(
    { url },
    async (query) =>
      [
        await readCatalog(query, { schemas, version: null }),
        await readReaders(query),
        await readStrays(query, schemas),
      ] as const,
  )
  return {
    imported: importPostgraphile(catalog, entries, readers, strays),
    schemas,
    asking: callers.map(({ role, claims, headers, documents }) => ({
      name: role,
      role,
      claims,
      documents: documents ?? [],
      before: async (document) => (endpoint === null ? expectedRows(document) : askServer(endpoint, headers, document)),
    })),
  }
}
