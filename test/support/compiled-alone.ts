import { compileDocuments } from '../../compiler/tools/compiled/compile-documents.ts'
import type { RunExchange } from '../../runtime/contract/execution.ts'
import type { Engine } from '../../runtime/engine/engine.ts'
import { documentFile, documentsIndex, type DocumentsIndex } from '../../runtime/graphql/compiled/format.ts'
import { createCompiledService } from '../../runtime/graphql/compiled/serve.ts'
import { nothingServed } from '../../runtime/graphql/compiled/source.ts'
import type { GraphqlService } from '../../runtime/graphql/serve.ts'

/** What answers by these files of compiled documents, on the database as it is. */
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
  const examples = (): readonly AskedAlone['variables'][] => [variables]
  const { files, faults } = compileDocuments(engine, [role], [{ source: '', text, roles: null, examples }])
  if (faults.length > 0) return null
  const service = serviceOf(run, engine, files)
  const { body } = await service.serve(
    { query: text, operationName, variables, extensions: {}, queryOnly: false, live: true },
    { role, claims: JSON.stringify({ role, ...claims }) },
  )
  return body.toString()
}
