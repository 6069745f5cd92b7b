import { withSession, type Query } from '../../../../runtime/db/connect/session.ts'
import { misuse, textOption } from '../../command.ts'
import { readCallers, type ComparedDocument } from '../comparison.ts'
import type { Importer } from '../importer.ts'
import { expectedRows } from '../old-server.ts'
import { asCaller, rowsOfSql, type Asking } from '../trial.ts'
import { projectOfDump, readDump } from './dump.ts'
import { projectOfDatabase } from './old-database.ts'
import { importSupabase, type NewServer } from './supabase.ts'

async function readServer(query: Query): Promise<NewServer> {
  const names = async (sql: string): Promise<ReadonlySet<string>> =>
    new Set((await query<{ readonly name: string }>(sql)).rows.map(({ name }) => name))
  const { rows } = await query<{ readonly is: boolean }>(
    'select rolsuper as is from pg_catalog.pg_roles where rolname = current_user',
  )
  return {
    roles: await names('select rolname::text as name from pg_catalog.pg_roles'),
    settings: await names(
      `select r.rolname || ' ' || pg_catalog.split_part(one, '=', 1) as name from pg_catalog.pg_db_role_setting s
        join pg_catalog.pg_roles r on r.oid = s.setrole, pg_catalog.unnest(s.setconfig) one`,
    ),
    extensions: await names('select name::text from pg_catalog.pg_available_extensions'),
    superuser: rows[0]?.is === true,
  }
}

/** The same document as the old database answers it, by pg_graphql or as SQL, in a transaction that only reads. */
const askOld = (
  url: string,
  schemas: readonly string[],
  caller: Pick<Asking, 'role' | 'claims'>,
  document: ComparedDocument,
) =>
  withSession({ url }, async (query) => {
    const { graphql, sql, before, variables } = document
    await query('begin read only')
    return asCaller(query, schemas, caller, async () => {
      if (sql !== null) return rowsOfSql(query, before ?? sql)
      const values = [before ?? graphql, JSON.stringify(variables)]
      return (await query<{ readonly answer: unknown }>('select graphql.resolve($1, $2::jsonb) as answer', values))
        .rows[0]?.answer
    })
  })

export const fromSupabase: Importer = async (given, { settings: { schemas }, url, args }, terminal) => {
  const [dump, from] = [textOption(given, 'dump'), textOption(given, 'from')]
  if (args.length > 0 || (dump === null) === (from === null))
    throw misuse('import supabase takes either --dump FILE or --from URL')
  const compare = textOption(given, 'compare')
  const callers = compare === null ? [] : readCallers(compare)
  terminal.stage('Reading the project')
  const project =
    dump === null ? await withSession({ url: from ?? '' }, projectOfDatabase) : projectOfDump(readDump(dump))
  return {
    imported: importSupabase(project, await withSession({ url }, readServer)),
    schemas,
    asking: callers.map(({ role, claims, documents }) => ({
      name: role,
      role,
      claims,
      documents: documents ?? [],
      before: async (document) =>
        from === null || document.expected !== undefined
          ? expectedRows(document)
          : askOld(from, schemas, { role, claims: { role, ...claims } }, document),
    })),
  }
}
