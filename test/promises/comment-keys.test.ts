import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { atOnce } from '../../runtime/lib/steps.ts'
import type { Catalog } from '../../compiler/catalog/catalog.ts'
import type { ObjectKind } from '../../compiler/comments/keys.ts'
import { createCompiler } from '../../compiler/compile.ts'
import { dump } from '../../compiler/catalog/diagnostics/dump.ts'
import { postgisMajor } from '../support/clusters.ts'
import { createDatabase, forPostgis } from '../support/database.ts'
import { allTriggers } from '../support/service.ts'
import { annotate, buildModel, keys } from '../support/with-additions.ts'

/**
 * Promise: each key of a comment changes what is served, on each kind of object that takes it, and a case of fixtures/
 * shows that: without the key its model differs.
 */

const fixtures = new URL('../../fixtures/', import.meta.url)
const needsPostgis = (sql: string): boolean => sql.includes('create extension postgis')
const schemas = readdirSync(fixtures)
  .map((name) => new URL(`${name}/schema.sql`, fixtures))
  .filter((path) => existsSync(path))
  .map((path) => readFileSync(path, 'utf8'))
  .filter((sql) => sql.includes('@graphql(') && (postgisMajor() !== null || !needsPostgis(sql)))

interface Case {
  readonly sql: string
  readonly catalog: Catalog
  /** The model as `modelText` has it. */
  readonly text: string
  /** The model with what can be watched. */
  readonly live: string
}

async function caseOf(sql: string): Promise<Case> {
  const major = needsPostgis(sql) ? postgisMajor() : null
  const database = await createDatabase({ sql, prepare: true, ...forPostgis(sql), ...(major !== null && { major }) })
  try {
    const { query } = database
    const compiler = createCompiler({ query, schemas: ['public'], version: null, triggers: allTriggers })
    const { catalog, model } = await compiler.compile()
    return { sql, catalog, text: modelText(catalog), live: dump(model.manifest) }
  } finally {
    await database.drop()
  }
}

let cases: readonly Case[] = []
beforeAll(async () => {
  cases = await Promise.all(schemas.map(caseOf))
})

const given = (key: string): string => `"${key}":`

/** The catalogue as it is where no object of the kind has the key. */
function withoutKey(catalog: Catalog, kind: ObjectKind, key: string): Catalog {
  const of =
    (looked: ObjectKind) =>
    <T extends { readonly comment: string | null }>(object: T): T =>
      looked === kind
        ? { ...object, comment: object.comment?.replaceAll(given(key), given(`no ${key}`)) ?? null }
        : object
  return {
    ...catalog,
    schemas: catalog.schemas.map(of('schema')),
    relations: catalog.relations.map(of('relation')).map((relation) => ({
      ...relation,
      columns: relation.columns.map(of('column')),
      foreignKeys: relation.foreignKeys.map(of('foreign key')),
    })),
    functions: catalog.functions.map(of('function')),
    types: catalog.types.map((type) => of(type.kind === 'e' ? 'enum' : 'composite')(type)),
  }
}

const modelText = (catalog: Catalog): string => dump(atOnce(buildModel(atOnce(annotate(catalog)).annotated)).model)

/** Keys about objects of extensions, which no case has; test/runtime/graphql/additions tests them. */
const withoutCase = new Set<string>(['extensions', ...(postgisMajor() === null ? ['geo'] : [])])

/** The database decides about watchable objects, apart from the model: its schema is made without the key. */
const besideModel = 'live'

const rows = keys
  .filter(({ key }) => !withoutCase.has(key) && key !== besideModel)
  .flatMap(({ key, on }) => on.map((kind) => [key, kind] as const))

test.each(rows)('%s changes what is served of a %s', (key, kind) => {
  const having = cases.filter(({ sql }) => sql.includes(given(key)))
  const isShown = having.some(({ catalog, text }) => modelText(withoutKey(catalog, kind, key)) !== text)
  expect(isShown).toBe(true)
})

const statementOf: Partial<Record<ObjectKind, string>> = { schema: 'schema', relation: 'table', function: 'function' }

test.each(keys.flatMap(({ key, on }) => (key === besideModel ? on : [])))(
  'live changes what is served of a %s',
  async (kind) => {
    const of = new RegExp(`^comment on ${statementOf[kind]} [^;]*;`, 'gm')
    const without = (sql: string): string =>
      sql.replace(of, (text) => text.replaceAll(given(besideModel), given('no live')))
    const having = cases.filter(({ sql }) => without(sql) !== sql)
    const showing = await Promise.all(having.map(async ({ sql, live }) => (await caseOf(without(sql))).live !== live))
    expect(showing).toContain(true)
  },
)
