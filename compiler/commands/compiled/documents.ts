import { decodeDocument } from '../../../runtime/graphql/compiled/documents.ts'
import { findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read-document.ts'
import { groupBy } from '../../../runtime/lib/steps.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'
import { beginningOf } from '../advise/diff/setting-changes.ts'

/**
 * The documents that `compile` wrote into a folder, each for its roles, by the names of their operations. @throws
 * ArtifactFailure
 */
export function compiledDocuments(out: string): readonly GivenDocument[] {
  const { index, folder } = findDocuments(out)
  const entries = Object.entries(index.roles).flatMap(([role, documents]) =>
    Object.entries(documents).map(([hash, address]) => ({ role, hash, address })),
  )
  const found = [...groupBy(entries, ({ hash }) => hash)].map(([hash, compiled]) => {
    const { document, operations } = decodeDocument(readDocumentFile(folder, compiled[0]?.address ?? ''), hash)
    const names = operations.flatMap(({ name }) => name ?? [])
    return { hash, text: document, names: names.join(', '), roles: compiled.map(({ role }) => role) }
  })
  const sameNames = groupBy(found, ({ names }) => names)
  return found.map(({ hash, text, names, roles }) => {
    const isUnique = names !== '' && sameNames.get(names)?.length === 1
    return { source: isUnique ? names : `${names} ${hash.slice(0, 12)} ${beginningOf(text)}`.trim(), text, roles }
  })
}
