import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCompiler, type Compiled } from '../compiler/compile.ts'
import { dump } from '../compiler/catalog/diagnostics/dump.ts'
import { printDiagnostics } from '../compiler/catalog/diagnostics/diagnostics.ts'
import { clusterOf } from './support/clusters.ts'
import { createDatabase, majors, type Major, forPostgis } from './support/database.ts'
import { allTriggers } from './support/service.ts'
import { compactJson, withoutEmpty } from './support/golden/compact.ts'
import { compileOnce, operationStages } from './support/golden/operations.ts'
import { demandSame, filesIn, replaceFiles, type KeptFiles } from './support/golden/kept-files.ts'
import { startReaders } from './support/golden/reader.ts'
import { briefSdl, withoutTypesOfAll } from './support/golden/sdl.ts'
import { normalCatalog, normalModel } from './support/normal-forms.ts'
import { isWhole, leftToWhole } from './support/whole.ts'

/**
 * Every folder of fixtures/ is a case: schema.sql goes through every stage on a real Postgres, so does each document of
 * operations/ on the rows of data.sql, and what the stages made is compared with the files of expected/. These are read by
 * people: the schema in brief, statements, answers and diagnostics of each case, and all stages of a few. A folder whose name
 * ends in `.invalid` must fail, by diagnostics. The demo has tests of its own.
 */
const fixtures = new URL('../fixtures', import.meta.url).pathname
const isCase = (name: string): boolean => name !== 'demo' && existsSync(join(fixtures, name, 'schema.sql'))
const cases = readdirSync(fixtures).filter(isCase).sort()
/** The case that shows the types that every database has, so that a new operator changes one golden. */
const showsTypesOfAll = 'basics'
/** Cases that show all stages: tables with writes, functions, and settings by comment. */
const shownWhole: readonly string[] = [showsTypesOfAll, 'functions', 'settings']
const accept = process.env['UPDATE_GOLDEN'] === '1'

const readers = startReaders()
afterAll(() => readers?.stop())

describe.each(cases)('the golden %s', { timeout: 120_000 }, (name) => {
  const able = majorsOf(name)
  const newest = Math.max(...able) as Major
  const compile = compileOnce()
  let made: Promise<KeptFiles> | null = null
  const onNewest = (): Promise<KeptFiles> => (made ??= runCase(name, newest, true, compile))
  it.for(majors())('is as expected on PostgreSQL %i', async (major, { skip }) => {
    skip(!able.includes(major), 'PostGIS is not installed')
    skip(name === 'schema-report' && major < 15, 'its advice names security_invoker, which PostgreSQL 15 brought')
    skip(!isWhole && major !== newest, leftToWhole)
    const ofNewest = await onNewest()
    const run = `Run this case: ${runOf(name)}`
    if (major !== newest) {
      // The other versions have to make the same at each stage, of which artifacts follow.
      const expected = only(ofNewest, (path) => !isArtifact(path))
      return demandSame(expected, await runCase(name, major, false, compile), run)
    }
    const kept = forPeople(name, ofNewest)
    if (accept) return replaceFiles(expectedOf(name), kept)
    return demandSame(await filesIn(expectedOf(name)), kept, `${run}\nAccept it:     UPDATE_GOLDEN=1 ${runOf(name)}`)
  })
})

/** Servers that have what the case needs. */
function majorsOf(name: string): readonly Major[] {
  const needsPostgis = readFileSync(join(fixtures, name, 'schema.sql'), 'utf8').includes('create extension postgis')
  return majors().filter((major) => !needsPostgis || clusterOf(major).postgis)
}

/** As the schema is from PostgreSQL 15 on (release notes, E.1.2). */
const publicOfNow = `
  alter schema public owner to pg_database_owner;
  revoke create on schema public from public;`

async function runCase(
  name: string,
  major: Major,
  isNewest: boolean,
  compile: ReturnType<typeof compileOnce>,
): Promise<KeptFiles> {
  const schema = await readFile(join(fixtures, name, 'schema.sql'), 'utf8')
  const sql = `${major < 15 ? publicOfNow : ''}${schema}`
  const database = await createDatabase({ major, sql, prepare: true, ...forPostgis(sql) })
  try {
    const { query } = database
    const compiled = await createCompiler({
      query,
      schemas: ['public'],
      version: null,
      triggers: allTriggers,
    }).compile()
    const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error')
    expect(errors.length > 0, errors.length > 0 ? printDiagnostics(errors) : `${name} compiles without an error`).toBe(
      name.endsWith('.invalid'),
    )
    const folder = join(fixtures, name)
    const operations = await operationStages(database, compiled.revision, folder, isNewest ? readers : null, compile)
    return { ...(await stagesOf(name, compiled, isNewest)), ...operations }
  } finally {
    await database.drop()
  }
}

/** Of a case that fails: why, and no more. */
async function stagesOf(name: string, compiled: Compiled, isNewest: boolean): Promise<KeptFiles> {
  const told: KeptFiles =
    compiled.diagnostics.length === 0 ? {} : { 'diagnostics.txt': printDiagnostics(compiled.diagnostics) }
  if (name.endsWith('.invalid')) return told
  return {
    ...told,
    'catalog.json': dump(normalCatalog(compiled.catalog)),
    'model.json': dump(normalModel(compiled.model)),
    ...(isNewest ? await artifactStages(compiled) : {}),
  }
}

/** They are made of the model alone, so that equal models have equal ones. */
async function artifactStages(compiled: Compiled): Promise<KeptFiles> {
  const { files } = await compiled.artifacts()
  return Object.fromEntries(Object.entries(files).filter(([path]) => isArtifact(path)))
}

const schemaFile = 'schema.anon.graphql'
const isArtifact = (path: string): boolean =>
  path === schemaFile || /^(?:entities\/.*|functions)\.(?:cjs|d\.cts)$/.test(path)

const only = (stages: KeptFiles, isAsked: (path: string) => boolean): KeptFiles =>
  Object.fromEntries(Object.entries(stages).filter(([path]) => isAsked(path)))

/** The files of a case. */
function forPeople(name: string, stages: KeptFiles): KeptFiles {
  const shown = shownWhole.includes(name) ? stages : only(stages, (path) => isOfEachCase.test(path))
  return Object.fromEntries(Object.entries(shown).map(([path, text]) => [path, inBrief(name, path, text)]))
}

const isOfEachCase = /(?:^diagnostics\.txt|^schema\.anon\.graphql|\.statements\.sql|\.answer\.json)$/

function inBrief(name: string, path: string, text: string): string {
  if (path === schemaFile) return name === showsTypesOfAll ? text : briefSdl(withoutTypesOfAll(text))
  return /(?:catalog|model|plan)\.json$/.test(path) ? compactJson(withoutEmpty(JSON.parse(text))) : text
}

const runOf = (name: string): string =>
  `npx vitest run --config test/vitest.config.ts test/golden.test.ts -t 'golden ${name} '`
const expectedOf = (name: string): string => join(fixtures, name, 'expected')
