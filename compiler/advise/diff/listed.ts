import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import type { ListTable } from '../../../runtime/graphql/allowlist/admission.ts'
import { qualified } from '../../../runtime/sql/ident.ts'
import type { GivenDocument } from './document-changes.ts'

/** Further ones of a list are not judged. */
const mostListed = 5_000

export interface Listed {
  readonly hash: string
  readonly document: string
}

/**
 * The documents of allow-lists (spec/graphql.md 17, `allowlist`), for the roles that each list governs. Rejects with
 * DatabaseFailure if the connection's role may not read a list.
 */
export async function listedDocuments(query: Query, { allowlists = [] }: Manifest): Promise<readonly GivenDocument[]> {
  const found: GivenDocument[] = []
  for (const { table, roles } of allowlists) {
    if (table === null) continue
    const listed = await readList(query, table, mostListed)
    found.push(...listed.map(({ hash, document }) => ({ source: listedName(hash, document), text: document, roles })))
  }
  return found
}

/**
 * The content of a list, in the order of the hashes.
 * @param most null: all of it
 */
export async function readList(query: Query, table: ListTable, most: number | null): Promise<readonly Listed[]> {
  const from = qualified(table.schema, table.name)
  const { rows } = await query<Listed>(
    `select hash::text, document::text from ${from} order by hash limit ${most ?? 'null'}`,
  )
  return rows
}

/** Its hash, and the beginning of its text for people. */
export const listedName = (hash: string, document: string): string =>
  `listed ${hash.slice(0, 12)} ${beginningOf(document)}`

export const beginningOf = (document: string): string => document.replaceAll(/\s+/g, ' ').trim().slice(0, 60)
