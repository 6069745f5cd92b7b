import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { commentKeys } from '../../compiler/additions/table.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

/**
 * A schema that enables no addition gets, byte for byte, the API without any. The expected files are in
 * fixtures/additions-off/expected (schema, statements, answers), fixtures/basics/expected, and in generated/ for the demo.
 */

const sql = readFileSync(new URL('../../fixtures/additions-off/schema.sql', import.meta.url), 'utf8')

/** Settings that no other server has. */
const switched =
  'relationFilters orderByRelated distinctOn upsert enumArrays groups uniqueKeys manyToMany jsonFilters search ' +
  'textFilters ltreeFilters arrayFilters columnFilters oneOf rangeFilters networkFilters updates nestedWrites live ' +
  'domains composites functionShapes geo explain schemaReport'
const additions: Readonly<Record<string, object>> = {
  ...Object.fromEntries(switched.split(' ').map((key) => [key, { enabled: true }])),
  limits: { fields: 10, rows: 10 },
  allowlist: { table: 'private.documents' },
}

const ofConvention = ['extensions', 'inflect_names', 'introspection', 'max_rows', 'validation']

describe('additions that are off', () => {
  let untouched: string
  const made = async (): Promise<string> => {
    const compiled = await createCompiler({ query: db.query, schemas: ['public'], version: null }).compile()
    return JSON.stringify([compiled.revision, (await compiled.artifacts()).files])
  }
  const comment = async (object: string, settings: object): Promise<void> => {
    await db.query(`comment on ${object} is '@graphql(${JSON.stringify(settings)})'`)
  }
  const db = forSuite(createDatabase, { sql })
  beforeAll(async () => {
    untouched = await made()
  })

  test('are these', () => {
    expect([...Object.keys(additions), ...ofConvention].sort()).toEqual(
      commentKeys.on.schema.map(({ key }) => key).sort(),
    )
  })

  test.each([{ enabled: false }, null, { enabled: 'of' }])('change no byte, switched off as %j', async (off) => {
    const all = Object.fromEntries(
      Object.keys(additions)
        .filter((key) => key !== 'allowlist')
        .map((key) => [key, off]),
    )
    await comment('schema public', { ...all, allowlist: null })
    await comment('table book', all)
    await comment('table author', { ...all, root: { enabled: true } })
    expect(await made()).toBe(untouched)
    await db.query('comment on schema public is null; comment on table book is null; comment on table author is null')
  })

  // Without PostGIS and ltree there is nothing that could be served otherwise.
  const serving = Object.entries(additions).filter(([key]) => key !== 'geo' && key !== 'ltreeFilters')
  test.each(serving)('leave nothing behind: %s, on', async (key, on) => {
    await comment('schema public', { [key]: on })
    expect(await made()).not.toBe(untouched)
  })

  test('leave nothing once all are off again', async () => {
    await db.query('comment on schema public is null')
    expect(await made()).toBe(untouched)
  })
})
