import type { Query } from '../../../runtime/db/connect/session.ts'
import { nameObject } from '../../catalog/diagnostics/object-name.ts'
import { advise, type Finding } from './findings.ts'

const hooksSql = `select n.nspname::text as schema from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.proname = 'custom_access_token_hook' and n.nspname in ('public', 'auth') order by 1`

/** GoTrue can be configured to call such a function for each token; this service never does (docs/auth.md). */
export async function tokenHookFindings(query: Query): Promise<readonly Finding[]> {
  const { rows } = await query<{ readonly schema: string }>(hooksSql)
  return rows.map(({ schema }) =>
    advise(
      'token hook',
      `${nameObject('function', schema, 'custom_access_token_hook')} is not called, so that tokens lack the claims that it adds`,
      'write policies that read the same from a table by auth.uid(), or from app_metadata in auth.jwt()',
    ),
  )
}
