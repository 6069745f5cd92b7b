import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { hashListOf, type ListTable } from '../../../runtime/graphql/allowlist/admission.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import { qualified } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'
import { listedName, readList } from '../advise/diff/setting-changes.ts'

/** Allow-lists (spec/graphql.md 17, `allowlist`) as a source and target of documents. */

/** A role has no list, or it has invalid content. */
export class NoList extends Error {}

interface List {
  readonly table: ListTable
  readonly roles: readonly string[]
}

/** @throws NoList if a role has no readable one */
export function listsOf(manifest: Manifest, roles: readonly string[]): readonly List[] {
  if (roles.length === 0) throw new NoList('no served schema has an allow-list')
  return [...groupBy(roles, (role) => hashListOf(manifest, role))].map(([list, group]) => {
    if (list === undefined) throw new NoList('no served schema has an allow-list')
    if (list.table === null) throw new NoList('the setting "allowlist" cannot be read, so that it lists nothing')
    return { table: list.table, roles: group }
  })
}

/** Documents of these roles' lists, each for the roles of its list. Rejects with NoList, and with DatabaseFailure. */
export async function readListed(
  query: Query,
  manifest: Manifest,
  roles: readonly string[],
): Promise<readonly GivenDocument[]> {
  const found: GivenDocument[] = []
  for (const list of listsOf(manifest, roles)) {
    for (const { hash, document } of await readList(query, list.table, null)) {
      const source = listedName(hash, document)
      if (sha256Hex(document) !== hash) throw new NoList(`${source}: the hash is not that of the document`)
      found.push({ source, text: document, roles: list.roles })
    }
  }
  return found
}

/** SQL that adds missing documents to a list. The same documents make the same text. */
export function listingSql({ schema, name }: ListTable, documents: readonly GivenDocument[]): string {
  const table = qualified(schema, name)
  const rows = new Map(documents.map(({ text }) => [sha256Hex(text), text]))
  const values = [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([hash, text]) => `  (${literal(hash)}, ${literal(text)})`)
  return `insert into ${table} (hash, document)
select given.hash, given.document from (values
${values.join(',\n')}
) as given (hash, document)
where not exists (select from ${table} as listed where listed.hash = given.hash);
`
}
