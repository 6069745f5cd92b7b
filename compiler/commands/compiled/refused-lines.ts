import {
  documentFile,
  documentsIndex,
  type CompiledOperation,
  type DocumentFile,
  type DocumentsIndex,
} from '../../../runtime/graphql/compiled/format.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import type { GivenDocument } from '../../advise/diff/document-changes.ts'

/** Variables that a server of compiled documents refuses with VARIABLES_NOT_COMPILED: a line per operation. */
export function refusedLines(
  files: Readonly<Record<string, string>>,
  documents: readonly GivenDocument[],
): readonly string[] {
  const { roles } = JSON.parse(files[documentsIndex] ?? '') as DocumentsIndex
  const known = new Map<string, readonly CompiledOperation[]>()
  const operationsAt = (address: string): readonly CompiledOperation[] => {
    const before = known.get(address)
    if (before !== undefined) return before
    const { operations } = JSON.parse(files[documentFile(address)] ?? '') as DocumentFile
    known.set(address, operations)
    return operations
  }
  const lines = documents.flatMap(({ source, text }) => {
    const addresses = Object.values(roles).flatMap((ofRole) => ofRole[sha256Hex(text)] ?? [])
    return [...new Set(addresses)].flatMap(operationsAt).flatMap((operation) => {
      const line = lineOf(operation)
      return line === null ? [] : [`${source}: ${operation.name ?? 'the operation'} is refused with ${line}`]
    })
  })
  return [...new Set(lines)]
}

function lineOf({ refuses, lenient }: CompiledOperation): string | null {
  if (refuses === null) return null
  if (lenient === true) return 'variables other than those of its examples'
  const others = Object.entries(refuses.others).map(([name, forms]) => `$${name} other than ${forms.join(' ')}`)
  return [...others, ...(refuses.combined ? [] : ['some combinations of its variables'])].join(', or ')
}
