import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { atOnce } from '../../runtime/lib/steps.ts'
import type { Catalog } from '../../compiler/catalog/types.ts'
import { annotate } from '../../compiler/comments/annotate.ts'
import { keys, type ObjectKind } from '../../compiler/comments/keys.ts'
import { createCompiler } from '../../compiler/compile.ts'
import { buildModel } from '../../compiler/model/build.ts'
import { dump } from '../../compiler/report/dump.ts'
import { postgisMajor } from '../support/clusters.ts'
import { createDatabase } from '../support/database.ts'

/**
 * Promise: each key of a comment changes what is served, on each kind of object that takes it, and a case of fixtures/
 * shows that: without the key its model is another one.
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
}

async function caseOf(sql: string): Promise<Case> {
  const major = needsPostgis(sql) ? postgisMajor() : null
  const database = await createDatabase({ sql, prepare: true, ...(major !== null && { major }) })
  try {
    const { catalog } = await createCompiler({ query: database.query, schemas: ['public'], version: null }).compile()
    return { sql, catalog }
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

/**
 * What extensions bring is none of a case's own; test/runtime/graphql/additions has it. What can be watched is found out beside the
 * model, which test/compiler/watched.test.ts shows.
 */
const withoutCase = new Set<string>(['extensions', 'live', ...(postgisMajor() === null ? ['geo'] : [])])

const rows = keys
  .filter(({ key }) => !withoutCase.has(key))
  .flatMap(({ key, on }) => on.map((kind) => [key, kind] as const))

test.each(rows)('%s changes what is served of a %s', (key, kind) => {
  const having = cases.filter(({ sql }) => sql.includes(given(key)))
  const showing = having.filter(({ catalog }) => modelText(withoutKey(catalog, kind, key)) !== modelText(catalog))
  expect(showing).not.toEqual([])
})
