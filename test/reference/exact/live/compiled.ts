import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Question } from '../../interpreter/world.ts'
import { writeArtifacts } from '../../../../compiler/emit/disk.ts'
import {
  compileDocuments,
  type ExampledDocument,
  nothingEarlier,
} from '../../../../compiler/commands/compiled/compile-documents.ts'
import type { Revision } from '../../../../runtime/contract/artifact.ts'
import { allDefinitions } from '../../../../runtime/db/check/fits.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { isAway } from '../../../../runtime/db/failures/failures.ts'
import { createEngine } from '../../../../compiler/additions/engine.ts'
import { groupBy } from '../../../../runtime/lib/steps.ts'

/** Artifacts of subscriptions, for a service that serves only these. */
export interface CompiledQuestions {
  readonly folder: string
  /** Compiles the possible subscriptions of the current schema, without concurrent changes. */
  readonly compile: () => Promise<void>
  readonly remove: () => Promise<void>
}

const documentsOf = (questions: readonly Question[]): readonly ExampledDocument[] =>
  [...groupBy(questions, ({ role, document }) => `${role} ${document}`)].map(([, asked]): ExampledDocument => {
    const [{ role, document }] = asked as [Question]
    return { source: '', text: document, roles: [role], examples: { all: asked.map(({ variables }) => variables) } }
  })

export async function compileQuestions(
  query: Query,
  revision: () => Promise<Revision>,
  questions: readonly Question[],
): Promise<CompiledQuestions> {
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-live-'))
  const documents = documentsOf(questions)
  const roles = [...new Set(questions.map(({ role }) => role))]
  const compileOnce = async (): Promise<void> => {
    const definitions = await allDefinitions(query)
    const made = await revision()
    // Documents that a role cannot use are left out.
    const { files } = compileDocuments(createEngine(made), roles, documents, {
      version: '',
      earlier: nothingEarlier,
      definitions,
    })
    await writeArtifacts(folder, { revision: made, files })
  }
  const compile = async (): Promise<void> => {
    for (;;) {
      try {
        return await compileOnce()
      } catch (error) {
        // Connections are ended now and then.
        if (!isAway(error)) throw error
      }
    }
  }
  await compile()
  return { folder, compile, remove: () => rm(folder, { recursive: true }) }
}
