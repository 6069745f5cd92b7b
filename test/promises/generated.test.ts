import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { currentFile, type Revision } from '../../runtime/contract/artifact.ts'
import { createEngine } from '../../compiler/additions/engine.ts'
import { createCompiler } from '../../compiler/compile.ts'
import { loadedFiles, type Artifacts } from '../../compiler/emit/artifacts.ts'
import { diffLines } from '../../compiler/emit/diff.ts'
import { currentText } from '../../compiler/emit/disk.ts'
import { liveTriggersBy } from '../../compiler/following/serving/live-triggers.ts'
import { compileDocuments } from '../../compiler/commands/compiled/compile-documents.ts'
import { legibleDocuments } from '../../compiler/commands/compiled/legible.ts'
import { createDatabase, majors } from '../support/database.ts'
import { readDocuments } from '../support/golden/documents.ts'
import { demandSame, filesIn, replaceFiles, type KeptFiles } from '../support/golden/kept-files.ts'
import { briefSdl } from '../support/golden/sdl.ts'

/**
 * The files in generated/ are the compiler's present output for the demo, on every version of Postgres: the artifacts that can
 * be served, and for people the API and the SQL of its documents.
 */

const folder = new URL('../../generated', import.meta.url).pathname
const demo = new URL('../../fixtures/demo', import.meta.url).pathname
const accept = process.env['UPDATE_GENERATED'] === '1'
const schema = readFileSync(join(demo, 'schema.sql'), 'utf8')

test.each(majors())('generated/ holds the demo as PostgreSQL %i has it', async (major) => {
  // Superusers are part of a revision, and other tests make some on the shared server.
  const database = await createDatabase({ major, sql: schema, prepare: true, isolated: true })
  onTestFinished(() => database.drop())
  const { query, ownerUrl } = database
  const triggers = liveTriggersBy(ownerUrl)
  const compiled = await createCompiler({ query, schemas: ['public'], version: null, triggers }).compile()
  expect(compiled.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const made = {
    ...servedFiles(compiled.revision),
    ...apiPages(await compiled.artifacts()),
    ...(await sqlPages(compiled.revision)),
  }
  if (accept && major === Math.max(...majors())) await replaceFiles(folder, made)
  demandSame(await filesIn(folder), made, 'generated/ is out of date; renew it: npm run generate')
})

const servedFiles = (revision: Revision): KeptFiles => ({
  [currentFile]: currentText(revision.id),
  ...Object.fromEntries(Object.entries(loadedFiles(revision)).map(([path, text]) => [join(revision.id, path), text])),
})

/** The schema of the widest role, and the differences of the others. */
function apiPages({ files }: Artifacts): KeptFiles {
  const sdlOf = (role: string): string => briefSdl(files[`schema.${role}.graphql`] ?? '')
  const widest = sdlOf('service_role')
  return {
    'schema.service_role.graphql': widest,
    ...Object.fromEntries(
      ['authenticated', 'anon'].map((role) => [`schema.${role}.diff`, diffLines(widest, sdlOf(role))] as const),
    ),
  }
}

/** The statements of each document of the demo, for the roles that may run it. */
async function sqlPages(revision: Revision): Promise<KeptFiles> {
  const documents = (await readDocuments(join(demo, 'operations'))).map(({ name, text }) => {
    return { source: `${name}.graphql`, text, roles: null, examples: { all: [] } }
  })
  const roles = ['anon', 'authenticated', 'service_role']
  return legibleDocuments(compileDocuments(createEngine(revision), roles, documents).files, documents)
}
