import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareApis, type Comparison, type SchemaState } from '../../../../../compiler/commands/advise/diff/compare.ts'
import { createCompiler } from '../../../../../compiler/compile.ts'
import type { World } from '../../../../reference/interpreter/world.ts'
import { questions, usefulRoles } from '../../../../reference/questions/document.ts'
import { withSession } from '../../../../../runtime/db/connect/session.ts'
import { worlds } from '../../../../reference/exact/worlds/world.ts'
import { createDatabase } from '../../../../support/database.ts'
import { schemaSql } from '../../../../reference/exact/ddl.ts'
import { simplerWorlds } from '../../../../reference/exact/shrink-world.ts'
import { sized } from '../../../../support/whole.ts'

const seed = Number(process.env['DIFF_SEED'] ?? '4100')
const again = `DIFF_SEED=${seed} npx vitest run --config test/vitest.config.ts test/compiler/commands/advise/diff/law.test.ts`

async function stateOf(world: World): Promise<SchemaState> {
  const db = await createDatabase({ sql: schemaSql(world) })
  try {
    return await withSession({ url: db.ownerUrl }, async (query) => {
      const compiler = createCompiler({ query, schemas: ['public'], version: null })
      return { manifest: (await compiler.compile()).revision.manifest, policies: null }
    })
  } finally {
    await db.drop()
  }
}

/** Some of the ways in which a catalogue can become less or wider, from all over the list. */
const variants = (world: World): readonly World[] => {
  const all = [...simplerWorlds(world)]
  return Array.from({ length: 4 }, (_, index) => all[Math.floor((index * all.length) / 4)]).filter(
    (one) => one !== undefined,
  )
}

/** Documents that stopped working for a role without any finding. */
const untold = ({ changes, documents }: Comparison): readonly unknown[] =>
  documents.broken.filter(
    ({ roles }) =>
      !roles.every((role) => changes.some((change) => change.severity === 'breaking' && change.roles.includes(role))),
  )

describe(`the promise of diff (again: ${again})`, () => {
  it(
    'reports a breaking change wherever a document stops working, and of none where nothing changed',
    { timeout: 150_000 },
    async () => {
      const tally = { broken: 0 }
      const drawn = fc
        .sample(worlds, { seed, numRuns: 20 })
        // Geometries need PostGIS.
        .filter((world) => world.geo !== true && usefulRoles(world).length > 0)
        .slice(0, sized(2, 1))
      for (const world of drawn) {
        const { limits: _, ...free } = world
        const before = await stateOf(free)
        const asked = fc
          .sample(questions(free), { seed, numRuns: 60 })
          .map(({ question: { document, role } }, index) => ({
            source: String(index),
            text: document,
            roles: [role],
          }))
        const roles = usefulRoles(free)
        expect(compareApis(before, before, roles, asked)).toMatchObject({
          breaking: false,
          changes: [],
          documents: { broken: [] },
        })
        for (const variant of variants(free)) {
          const compared = compareApis(before, await stateOf(variant), roles, asked)
          tally.broken += compared.documents.broken.length
          expect(untold(compared)).toEqual([])
        }
      }
      expect(tally.broken).toBeGreaterThan(0)
    },
  )
})
