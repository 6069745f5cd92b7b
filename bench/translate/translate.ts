import { createCompiler, type Compiled } from '../../compiler/compile.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { versionExpression } from '../../runtime/db/check/version.ts'
import { bind } from '../../runtime/graphql/run/bind.ts'
import { untrustedCacheLimits, createDocuments, type Documents } from '../../runtime/graphql/prepared/documents.ts'
import type { Statements } from '../../runtime/graphql/statements/statements.ts'
import { createEngine } from '../../compiler/additions/engine.ts'
import type { BoundStatement } from '../../runtime/contract/execution.ts'

/** From a document to bound statements, as a request goes there, without HTTP and without a database. */
export interface Translator {
  readonly translate: (document: string, variables: Readonly<Record<string, unknown>>) => Translated
}

export interface Translated {
  readonly statements: Statements
  readonly bound: readonly BoundStatement[]
}

export const compileOnce = (url: string): Promise<Compiled> =>
  withSession({ url }, (query) => createCompiler({ query, schemas: ['public'], version: versionExpression }).compile())

/** A translator without known documents. */
export const createTranslator = ({ revision }: Pick<Compiled, 'revision'>, role: string): Translator => {
  const documents: Documents = createDocuments(createEngine(revision), untrustedCacheLimits)
  return {
    translate: (document, variables) => {
      const prepared = documents.find({ role, text: document, operationName: null }).prepare(variables)
      const { statements } = prepared.statements
      return {
        statements: prepared.statements,
        bound: statements.map((statement) => bind(statement, prepared.variables)),
      }
    },
  }
}
