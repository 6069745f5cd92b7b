import type { VariableDefinitionNode } from 'graphql'
import { refusalOf } from '../../../runtime/contract/role-facts.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { createDocuments, allowlistCacheLimits, type Documents } from '../../../runtime/graphql/prepared/documents.ts'
import type { Document } from '../../../runtime/graphql/prepared/document.ts'
import { declaredVariables } from '../../../runtime/graphql/prepared/input-types.ts'
import { Refusal, type ErrorEntry } from '../../../runtime/graphql/protocol/failures.ts'
import type { Statement, Statements } from '../../../runtime/graphql/statements/statements.ts'
import { sha256Hex } from '../../../runtime/lib/sha256.ts'
import { variablesFor } from '../cost/variables.ts'
import { operationNames, type GivenDocument } from '../diff/documents.ts'

/**
 * Documents -> what each of them runs for each role (docs/artifacts.md), as files beside the revision. The same documents on
 * the same revision make the same bytes; roles for which a document runs the same share its file.
 */

type Given = Readonly<Record<string, unknown>>

/** A document with examples of its variables, which decide what statements it has. */
export interface ExampledDocument extends GivenDocument {
  readonly examples: readonly Given[]
}

/** Why a role cannot ask a document, in the words of the server. */
export interface DocumentFault {
  readonly source: string
  readonly role: string
  readonly message: string
  /** Null: it is about no place in the text. */
  readonly place: { readonly line: number; readonly column: number } | null
}

interface CompiledDocuments {
  /** By their paths in the folder of the revision. */
  readonly files: Readonly<Record<string, string>>
  readonly faults: readonly DocumentFault[]
}

/** Statements have names made of role and text; without them roles have the same. */
type Unnamed = Omit<Statement, 'name'>

interface CompiledShape extends Omit<Statements, 'statements'> {
  /** An example of the variables that have this shape. */
  readonly variables: Given
  readonly statements: readonly Unnamed[]
}

interface CompiledOperation {
  readonly name: string | null
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly variables: readonly { readonly name: string; readonly type: string; readonly default?: unknown }[]
  readonly shapes: Readonly<Record<string, CompiledShape>>
}

const documentsIndex = 'documents/index.json'

export function compileDocuments(
  engine: Engine,
  roles: readonly string[],
  documents: readonly ExampledDocument[],
): CompiledDocuments {
  const prepared = createDocuments(engine, allowlistCacheLimits)
  const faults: DocumentFault[] = []
  const files: Record<string, string> = {}
  const byRole = roles.map((role) => {
    const addresses = documents.flatMap((document) => {
      const operations = operationsOf(engine, prepared, role, document, (error) =>
        faults.push(faultOf(document, role, error)),
      )
      const text = printed({ format: 1, document: document.text, operations })
      const address = sha256Hex(text).slice(0, 16)
      files[`documents/${address}.json`] = text
      return [[sha256Hex(document.text), address] as const]
    })
    return [role, Object.fromEntries(addresses.toSorted(([a], [b]) => (a < b ? -1 : 1)))] as const
  })
  const index = { format: 1, revision: engine.revision, roles: Object.fromEntries(byRole) }
  return { files: { ...files, [documentsIndex]: printed(index) }, faults }
}

/** Values of statements never hold what JSON lacks but integers beyond 2^53, which travel as texts. */
const printed = (value: unknown): string =>
  `${JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner), 2)}\n`

const faultOf = ({ source }: GivenDocument, role: string, { message, locations }: ErrorEntry): DocumentFault => ({
  source,
  role,
  message,
  place: locations?.[0] ?? null,
})

function operationsOf(
  engine: Engine,
  prepared: Documents,
  role: string,
  { text, examples }: ExampledDocument,
  tell: (error: ErrorEntry) => void,
): readonly CompiledOperation[] {
  return operationNames(text).flatMap((name) => {
    try {
      refuseUnreadable(engine, role)
      return [operationOf(engine, role, { name, text, examples }, prepared)]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      error.errors.forEach(tell)
      return []
    }
  })
}

function refuseUnreadable({ manifest }: Engine, role: string): void {
  const message = refusalOf(manifest, role)
  const code = 'SCHEMA_COMMENT_INVALID'
  if (message !== null) throw new Refusal(code, [{ message, extensions: { code } }])
}

interface NamedOperation extends Pick<ExampledDocument, 'text' | 'examples'> {
  readonly name: string | null
}

function operationOf(
  engine: Engine,
  role: string,
  { name, text, examples }: NamedOperation,
  prepared: Documents,
): CompiledOperation {
  const document = prepared.find({ role, text, operationName: name })
  const view = engine.view(role)
  const shapes = new Map<string, CompiledShape>()
  const keep = (variables: Given): void => {
    const { shape, statements } = document.prepare(variables)
    const key = shape ?? JSON.stringify(variables)
    if (!shapes.has(key)) shapes.set(key, { variables, ...unnamed(statements) })
  }
  for (const example of examples) keep(example)
  for (const thought of variablesFor(view, document.definitions, text)) attempt(() => keep(thought))
  return {
    name,
    kind: kindOf(document),
    variables: variablesOf(engine, role, document.definitions),
    shapes: Object.fromEntries([...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** What was thought up need not fit: a request with it would be refused. */
function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}

const unnamed = ({ statements, ...others }: Statements): Omit<CompiledShape, 'variables'> => ({
  ...others,
  statements: statements.map(({ text, carriesCheck, values, tenants, unchanged }): Unnamed => ({
    text,
    ...(carriesCheck === true && { carriesCheck }),
    values,
    ...(tenants !== undefined && { tenants }),
    ...(unchanged !== undefined && { unchanged }),
  })),
})

const kindOf = ({ writes, streams }: Document): CompiledOperation['kind'] =>
  writes ? 'mutation' : streams ? 'subscription' : 'query'

const variablesOf = (
  engine: Engine,
  role: string,
  definitions: readonly VariableDefinitionNode[],
): CompiledOperation['variables'] =>
  declaredVariables(engine.view(role).schema, definitions).map(({ name, type, byDefault }) => ({
    name,
    type: type.text,
    ...(byDefault !== undefined && { default: byDefault }),
  }))
