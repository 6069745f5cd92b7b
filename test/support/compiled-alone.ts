import { compileDocuments } from '../../compiler/commands/compiled/compile-documents.ts'
import type { RunExchange } from '../../runtime/contract/execution.ts'
import type { Engine } from '../../runtime/engine/engine.ts'
import { documentFile, documentsIndex, type DocumentsIndex } from '../../runtime/graphql/compiled/format.ts'
import { createCompiledService } from '../../runtime/graphql/compiled/serve.ts'
import { nothingServed } from '../../runtime/graphql/compiled/source.ts'
import type { GraphqlService } from '../../runtime/graphql/serve.ts'

/** A server of these files of compiled documents, on the database as it is. */
export function serviceOf(run: RunExchange, engine: Engine, files: Readonly<Record<string, string>>): GraphqlService {
  const { manifest, ...addresses } = JSON.parse(files[documentsIndex] ?? '') as DocumentsIndex
  const revision = {
    id: engine.revision,
    version: null,
    manifest: { ...nothingServed, ...manifest },
    entities: [],
    functions: '',
    compiled: { folder: '', addresses, outdated: [] },
  }
  return createCompiledService(
    { database: { run }, source: () => Promise.resolve(revision) },
    (_folder, address) => files[documentFile(address)] ?? '',
  )
}

/**
 * Examples with which a document is compiled for these variables: they themselves, and instead of them, where it has the same form,
 * others of other numbers. The answer to a number that is itself written then differs.
 */
export const examplesFor = (variables: AskedAlone['variables']): readonly AskedAlone['variables'][] => [
  variables,
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, otherNumber(value)])),
]

const otherNumber = (value: unknown): unknown => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value <= 0) return value
  return value === 1 ? 2 : value - 1
}

/** A document as a role asks it. */
export interface AskedAlone {
  readonly text: string
  readonly role: string
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The answer where nothing is there but the document, compiled for the role; null: the role cannot ask it so. */
export async function answeredAlone(
  run: RunExchange,
  engine: Engine,
  { text, role, operationName, variables, claims }: AskedAlone,
): Promise<string | null> {
  const compiled = (examples: readonly AskedAlone['variables'][]) =>
    compileDocuments(engine, [role], [{ source: '', text, roles: null, examples: { all: examples } }])
  const exampled = compiled(examplesFor(variables))
  // A refused request is not an example, and may have been foreseen.
  const { files, faults } = exampled.faults.length === 0 ? exampled : compiled([])
  if (faults.length > 0) return null
  const service = serviceOf(run, engine, files)
  const { body } = await service.serve(
    { query: text, operationName, variables, extensions: {}, queryOnly: false, live: true },
    { role, claims: JSON.stringify({ role, ...claims }) },
  )
  const answer = body.toString()
  return exampled.faults.length > 0 && answer.includes('"VARIABLES_NOT_COMPILED"') ? null : answer
}
