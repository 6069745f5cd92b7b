import {
  type CompiledOperation,
  type RefusedForms,
  documentFile,
  documentsIndex,
  type DocumentFile,
  type DocumentsIndex,
} from '../../../runtime/graphql/compiled/format.ts'
import { namedInput, type DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'
import { formOfVariable } from './form-of-variable.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'

type Given = Readonly<Record<string, unknown>>

/** The forms of variables for which an operation was not compiled, derived from the examples of compiled ones. */
export function refusedForms(
  declared: readonly DeclaredVariable[],
  form: Pick<CompiledOperation, 'planned' | 'nulls' | 'lenient'>,
  compiled: readonly Given[],
): RefusedForms | null {
  if (form.lenient === true) return { others: {}, combined: false }
  const variables = declared.map((variable) => {
    const formOf = formOfVariable(variable, form)
    const forms = compiled.map((given) =>
      formOf(Object.hasOwn(given, variable.name) ? { [variable.name]: given[variable.name] } : {}),
    )
    return { variable, forms: [...new Set(forms)].filter((one) => one !== null).toSorted() }
  })
  const others = variables
    .filter(({ variable }) => hasOtherForms(variable, form))
    .map(({ variable, forms }) => [variable.name, forms] as const)
  const combined = variables.reduce((product, { forms }) => product * forms.length, 1) === compiled.length
  return others.length === 0 && combined ? null : { others: Object.fromEntries(others), combined }
}

/** Whether the variable may have an unpredictable form. */
function hasOtherForms({ name, type }: DeclaredVariable, { planned }: Pick<CompiledOperation, 'planned'>): boolean {
  const named = namedInput(type)
  const isList = (type.kind === 'non-null' ? type.of : type).kind === 'list'
  if (named.kind === 'object') return true
  if (named.kind === 'enum') return named.written && isList
  if (planned[name] === 'value') return named.text !== 'Boolean'
  return named.text === 'Cursor' || named.text === 'ID'
}

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
