import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCompiler, type Compiled } from '../compiler/compile.ts'
import { diffLines } from '../compiler/emit/diff-lines.ts'
import { localDisk } from '../compiler/emit/disk.ts'
import { dump } from '../compiler/report/dump.ts'
import { printDiagnostics } from '../compiler/report/print.ts'
import { clusterOf } from './support/clusters.ts'
import { createDatabase, majors, type Major, forPostgis } from './support/database.ts'
import { toldAll } from './support/service.ts'
import { compileOnce, operationStages } from './support/golden/operations.ts'
import { withoutTypesOfAll } from './support/golden/sdl.ts'
import { normalCatalog, normalModel } from './support/normal-forms.ts'
import { isWhole, leftToWhole } from './support/whole.ts'

/**
 * Every folder of fixtures/ is a case: schema.sql goes through every stage on a real Postgres, so does each document of
 * operations/ on the rows of data.sql, and what each stage made is compared with the files of expected/. A folder whose
 * name ends in `.invalid` must fail, by diagnostics. The demo has tests of its own.
 */
const fixtures = new URL('../fixtures', import.meta.url).pathname
const isCase = (name: string): boolean => name !== 'demo' && existsSync(join(fixtures, name, 'schema.sql'))
const cases = readdirSync(fixtures).filter(isCase).sort()
/** The case that shows the types that every database has, so that a new operator changes one golden. */
const showsTypesOfAll = 'basics'
const accept = process.env['UPDATE_GOLDEN'] === '1'

describe.each(cases)('golden %s', { timeout: 120_000 }, (name) => {
  const able = majorsOf(name)
  const compile = compileOnce()
  it.for(majors())('on PostgreSQL %i', async (major, { skip }) => {
    skip(!able.includes(major), 'PostGIS is not installed')
    skip(name === 'schema-report' && major < 15, 'its advice names security_invoker, which PostgreSQL 15 brought')
    const isNewest = major === Math.max(...able)
    skip(!isWhole && !isNewest, leftToWhole)
    const made = await runCase(name, major, isNewest, compile)
    // What is expected comes from the newest version; the others have to make the same, of which artifacts follow.
    if (accept && isNewest) await acceptStages(name, made)
    else await compareStages(name, made, isNewest ? () => true : (path) => !isArtifact(path))
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

type Stages = Readonly<Record<string, string>>

async function runCase(
  name: string,
  major: Major,
  isNewest: boolean,
  compile: ReturnType<typeof compileOnce>,
): Promise<Stages> {
  const schema = await readFile(join(fixtures, name, 'schema.sql'), 'utf8')
  const sql = `${major < 15 ? publicOfNow : ''}${schema}`
  const database = await createDatabase({ major, sql, prepare: true, ...forPostgis(sql) })
  try {
    const { query } = database
    const compiled = await createCompiler({ query, schemas: ['public'], version: null, triggers: toldAll }).compile()
    const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error')
    expect(errors.length > 0, errors.length > 0 ? printDiagnostics(errors) : `${name} compiles without an error`).toBe(
      name.endsWith('.invalid'),
    )
    const folder = join(fixtures, name)
    const operations = await operationStages(database, compiled.revision, folder, isNewest, compile)
    return { ...(await stagesOf(name, compiled, isNewest)), ...operations }
  } finally {
    await database.drop()
  }
}

/** File in expected/ -> its text. A case that fails shows why and no more. */
async function stagesOf(name: string, compiled: Compiled, isNewest: boolean): Promise<Stages> {
  const told: Stages =
    compiled.diagnostics.length === 0 ? {} : { 'diagnostics.txt': printDiagnostics(compiled.diagnostics) }
  if (name.endsWith('.invalid')) return told
  return {
    ...told,
    'catalog.json': dump(normalCatalog(compiled.catalog)),
    'model.json': dump(normalModel(compiled.model)),
    ...(isNewest ? await artifactStages(name, compiled) : {}),
  }
}

/** They are made of the model alone, so that equal models have equal ones. */
async function artifactStages(name: string, compiled: Compiled): Promise<Stages> {
  const { files } = await compiled.artifacts()
  const sdl = files[schemaFile] ?? ''
  return {
    [schemaFile]: name === showsTypesOfAll ? sdl : withoutTypesOfAll(sdl),
    ...Object.fromEntries(Object.entries(files).filter(([path]) => isBuilder(path))),
  }
}

const schemaFile = 'schema.anon.graphql'
const isBuilder = (path: string): boolean => /^(?:entities\/.*|functions)\.(?:cjs|d\.cts)$/.test(path)
const isArtifact = (path: string): boolean => path === schemaFile || isBuilder(path)

async function compareStages(name: string, made: Stages, isMade: (path: string) => boolean): Promise<void> {
  const folder = join(fixtures, name, 'expected')
  const paths = new Set([...(await localDisk.files(folder)), ...Object.keys(made)])
  const differences: string[] = []
  for (const path of [...paths].filter(isMade).sort()) {
    const [expected, got] = [(await localDisk.read(join(folder, path))) ?? null, made[path] ?? null]
    if (expected !== got)
      differences.push(`--- ${path}${got === null ? ' (stray file)' : ''}\n${diffLines(expected ?? '', got ?? '')}`)
  }
  if (differences.length > 0) throw new Error(`${differences.join('\n').slice(0, 20_000)}\n${commands(name)}`)
}

const commands = (name: string): string => {
  const run = `npx vitest run --config test/vitest.config.ts test/golden.test.ts -t 'golden ${name} '`
  return `Run this case: ${run}\nAccept it:     UPDATE_GOLDEN=1 ${run}`
}

async function acceptStages(name: string, made: Stages): Promise<void> {
  const folder = join(fixtures, name, 'expected')
  await rm(folder, { recursive: true, force: true })
  for (const [path, text] of Object.entries(made)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
