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
  const [catalog, readers] = await withSession(
    { url },
    async (query) => [await readCatalog(query, { schemas, version: null }), await readReaders(query)] as const,
  )
  return {
    imported: importPostgraphile(catalog, entries, readers),
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
