import { loginOf } from '../../../../runtime/db/connect/server.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { readCatalog } from '../../../catalog/read.ts'
import { misuse, repeatedOption, textOption, type GivenOptions } from '../../command.ts'
import { readCallers } from '../comparison.ts'
import type { Importer } from '../importer.ts'
import { hasuraAsking } from './asking.ts'
import { demandBound, importHasura, readFacts, roleMapping, schemasOf } from './hasura.ts'
import { readMetadata } from './metadata.ts'

/** `--role old=new`, by the old name. */
function renamedRoles(given: GivenOptions): Readonly<Record<string, string>> {
  const pairs = repeatedOption(given, 'role').map((text) => {
    const [, old, now] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
    if (old === undefined || now === undefined) throw misuse(`--role takes OLD=NEW, not "${text}"`)
    return [old, now] as const
  })
  return Object.fromEntries(pairs)
}

export const fromHasura: Importer = async (given, { settings, url, args: [path, ...more] }, terminal) => {
  if (path === undefined || more.length > 0)
    throw misuse('import hasura takes one folder of metadata, or one exported file')
  const metadata = readMetadata(path, textOption(given, 'source'))
  const roleOf = roleMapping(metadata, renamedRoles(given))
  const compare = textOption(given, 'compare')
  const callers = compare === null ? [] : readCallers(compare)
  const schemas = [...new Set([...settings.schemas, ...schemasOf(metadata)])]
  terminal.stage('Reading the database')
  const [catalog, facts] = await withSession(
    { url },
    async (query) => [await readCatalog(query, { schemas, version: null }), await readFacts(query, schemas)] as const,
  )
  demandBound(metadata, catalog, roleOf)
  const old = {
    endpoint: textOption(given, 'endpoint'),
    secret: textOption(given, 'admin-secret') ?? terminal.environment['HASURA_GRAPHQL_ADMIN_SECRET'] ?? null,
  }
  return {
    imported: importHasura({ metadata, catalog, facts, roleOf, login: loginOf(settings.databaseUrl ?? url) }),
    schemas,
    asking: hasuraAsking(callers, metadata, catalog, roleOf, old),
  }
}
