import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { diffArtifacts, printDifferences } from '../../compiler/emit/diff.ts'
import { writeArtifacts } from '../../compiler/emit/write.ts'
import { packageVersion } from '../../compiler/tools/cli/package.ts'
import { liveTriggersBy } from '../../compiler/serving/live-triggers.ts'
import { createDatabase, majors } from '../support/database.ts'

/** What stands in generated/ is what the compiler makes of the demo today, on every version of Postgres. */

const folder = new URL('../../generated', import.meta.url).pathname
const accept = process.env['UPDATE_GENERATED'] === '1'
const schema = readFileSync(new URL('../../fixtures/demo/schema.sql', import.meta.url), 'utf8')

test.each(majors())('generated/ holds the demo as PostgreSQL %i has it', async (major) => {
  // Superusers are part of a revision, and other tests make some on the shared server.
  const database = await createDatabase({ major, sql: schema, prepare: true, isolated: true })
  try {
    const { query, ownerUrl } = database
    const triggers = liveTriggersBy(ownerUrl)
    const compiled = await createCompiler({ query, schemas: ['public'], version: null, triggers }).compile()
    expect(compiled.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    const artifacts = await compiled.artifacts({ version: await packageVersion(), before: null })
    if (accept && major === Math.max(...majors())) await writeArtifacts(folder, artifacts)
    const differences = await diffArtifacts(folder, artifacts)
    if (differences.length > 0) {
      const text = printDifferences(differences).slice(0, 20_000)
      throw new Error(`${text}\ngenerated/ is out of date; renew it: npm run generate`)
    }
  } finally {
    await database.drop()
  }
})
