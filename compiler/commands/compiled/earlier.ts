import { orNull } from '../../../runtime/engine/artifact-failure.ts'
import type { DocumentNeeds, TypesFile } from '../../../runtime/graphql/compiled/format.ts'
import type { FoundDocuments } from '../../../runtime/graphql/compiled/found.ts'
import { findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read-document.ts'
import { inputTypes, type InputType } from '../../../runtime/graphql/variables/input-types.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'

/** A document that was compiled before, equal to a new compile. */
interface EarlierDocument {
  readonly address: string
  /** Its file. */
  readonly content: string
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
  /** Of its variables: their texts, and their types for the role. */
  readonly variables: readonly string[]
  readonly types: readonly InputType[]
}

/** Undefined: it must be compiled. `mark` changes with the examples. */
export type FindEarlier = (
  role: string,
  document: { readonly text: string; readonly mark?: string },
) => EarlierDocument | undefined

export const nothingEarlier: FindEarlier = () => undefined

/** The content of a folder, as far as this version compiled it from this revision of the schema. */
export function earlierIn(out: string, revision: string, version: string): FindEarlier {
  const found = orNull(() => findDocuments(out))
  if (found === null) return nothingEarlier
  const { folder, index } = found
  if (index.revision !== revision || index.compiler !== version) return nothingEarlier
  const files = new Map<string, string | null>()
  const typesOf = typesIn(found)
  const read = (address: string): string | null => {
    const before = files.get(address)
    if (before !== undefined) return before
    const content = orNull(() => readDocumentFile(folder, address))
    files.set(address, content)
    return content
  }
  return (role, { text, mark }) => {
    const hash = sha256Hex(text)
    const address = index.roles[role]?.[hash]
    if (address === undefined || mark === undefined || mark !== index.examples[hash]) return undefined
    const [needs, variables, typeOf] = [index.needs[address], index.variables[address], typesOf(role)]
    if (needs === undefined || variables === undefined || typeOf === null) return undefined
    const content = read(address)
    if (content === null) return undefined
    const subscribes = Object.hasOwn(index.watched, address)
    return { address, content, needs, subscribes, variables, types: variables.map(typeOf) }
  }
}

/** By role its types by their names; null: it has no readable ones. */
function typesIn({ folder, addresses }: FoundDocuments): (role: string) => ((name: string) => InputType) | null {
  const known = new Map<string, ((name: string) => InputType) | null>()
  return (role) => {
    const before = known.get(role)
    if (before !== undefined) return before
    const text = orNull(() => readDocumentFile(folder, addresses.types[role] ?? ''))
    const made = text === null ? null : inputTypes((JSON.parse(text) as TypesFile).types)
    known.set(role, made)
    return made
  }
}
