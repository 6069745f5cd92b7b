import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { qualified } from '../../../runtime/sql/ident.ts'
import type { GivenDocument } from './documents.ts'

/** More of one list are not judged. */
const mostListed = 5_000

interface Listed {
  readonly hash: string
  readonly document: string
}

/**
 * The documents that allow-lists hold (spec/graphql.md 17, `allowlist`), for the roles that each list governs. Rejects
 * with DatabaseFailure where the connection's role may not read a list.
 */
export async function listedDocuments(query: Query, { allowlists = [] }: Manifest): Promise<readonly GivenDocument[]> {
  const found: GivenDocument[] = []
  for (const { table, roles } of allowlists) {
    if (table === null) continue
    const { rows } = await query<Listed>(
      `select hash::text, document::text from ${qualified(table.schema, table.name)} order by hash limit ${mostListed}`,
    )
    found.push(...rows.map(({ hash, document }) => ({ source: nameOf(hash, document), text: document, roles })))
  }
  return found
}

/** Its hash, and the beginning of its text for people. */
const nameOf = (hash: string, document: string): string =>
  `listed ${hash.slice(0, 12)} ${document.replaceAll(/\s+/g, ' ').trim().slice(0, 60)}`
