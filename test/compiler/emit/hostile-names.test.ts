import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectId } from '../../../runtime/contract/facts.ts'
import { makeArtifacts } from '../../../compiler/emit/make-artifacts.ts'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import { typeModule, columnTypesOf } from '../../../compiler/emit/builders.ts'
import { entitySamples, typeSample, type SqlSample, type TypeBuilder } from '../../../compiler/emit/samples.ts'
import { createSqlParser } from '../../../compiler/emit/sql-parser.ts'
import type { EntitySql, JsonForm } from '../../../compiler/model/model.ts'
import { evaluateModule } from '../../../runtime/engine/load.ts'
import { builderOf, call, column, entity, model } from './models.ts'

const seed = Number(process.env['SEED'] ?? 20_250_801)

// Whatever Postgres allows as a name: anything but NUL.
const hostileParts = [
  '"',
  "'",
  '\\',
  '`',
  '${',
  '}',
  '*/',
  '/*',
  '--',
  '$$',
  '$a$',
  '\n',
  '\r',
  '\u2028',
  '\u2029',
  '\u202e',
  ';',
  '%',
  'é',
  '😀',
  ' ',
  '__proto__',
  'a',
  'E',
  "E'",
  'U&"',
  '\\n',
  ');',
]
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...hostileParts),
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0')),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((name) => name !== '')
const json: fc.Arbitrary<JsonForm> = fc.oneof(
  fc.constantFrom<JsonForm>({ kind: 'native' }, { kind: 'text' }, { kind: 'text-array' }, { kind: 'json-text' }),
  fc.array(fc.tuple(hostile, hostile), { maxLength: 3 }).map((names): JsonForm => ({ kind: 'mapped', names })),
)
const quotedType = hostile.map((name) => `"${name.replaceAll('"', '""')}"`)
const hostileEntity = fc
  .record({
    schema: hostile,
    relation: hostile,
    columns: fc.uniqueArray(fc.record({ name: hostile, type: quotedType, json }), {
      selector: ({ name }) => name,
      minLength: 1,
      maxLength: 4,
    }),
    other: hostile,
  })
  .map(({ schema, relation, columns, other }) =>
    entity(schema, relation, {
      columns: columns.map(({ name, type, json }) => column(name, type, { json })),
      computed: [{ id: other, schema, function: other, json: { kind: 'native' } }],
    }),
  )

/** All that a check parses. */
const samplesOf = (item: EntitySql): readonly Pick<SqlSample, 'sql'>[] => [
  ...entitySamples(builderOf(item)),
  ...columnTypesOf(item).list.map(({ text }) => ({
    sql: typeSample(evaluateModule(typeModule(text), 'type') as TypeBuilder),
  })),
]

describe(`any names (SEED=${seed})`, () => {
  const parse = createSqlParser()
  const runs = { seed, numRuns: 60 }

  it('give modules that evaluate and SQL that parses as one statement', async () => {
    await fc.assert(
      fc.asyncProperty(hostileEntity, async (item) => {
        const built = builderOf(item)
        expect(Object.keys(built.columns).sort()).toEqual(item.columns.map(({ column }) => column).sort())
        for (const { sql } of samplesOf(item)) expect(await parse(sql), sql).toBeNull()
      }),
      runs,
    )
  })

  it('parse the same by their shape and by themselves', async () => {
    await fc.assert(
      fc.asyncProperty(hostileEntity, async (item) => {
        for (const { sql } of samplesOf(item)) {
          // A comment in front makes the shape unsure, so that the text itself is parsed.
          expect(await parse(`/**/${sql}`)).toBe(await parse(sql))
        }
      }),
      { ...runs, numRuns: 15 },
    )
  })

  it('give the same bytes twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(hostileEntity, { selector: ({ id }) => id, maxLength: 3 }), async (entities) => {
        const one = await createEmitter()(model(entities), '1')
        const two = await createEmitter()(model([...entities].reverse().reverse()), '2')
        expect(two.value).toEqual({ ...one.value, version: '2' })
        const files = [one, two].map(({ value }) => makeArtifacts(model(entities), value, () => 'type Query').files)
        expect(files[1]).toEqual(files[0])
      }),
      { ...runs, numRuns: 10 },
    )
  })

  it('give declarations that tsc accepts under strict', { timeout: 60_000 }, async () => {
    const entities = fc
      .sample(hostileEntity, { seed, numRuns: 25 })
      .map((item, index) => ({ ...item, id: objectId(item.schema, `${item.relation}${index}`) }))
    const named = model(entities, [
      call('s', 'f', { args: [{ field: "a'b", name: 'x', type: 'int4', array: false, plainDelimiter: true }] }),
    ])
    const { value } = await createEmitter()(named, null)
    await typeCheck(makeArtifacts(named, value, () => 'type Query').files)
  })
})

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'emit-types-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const root = new URL('../../..', import.meta.url).pathname

/** Checks the declarations, and that each builder has the type that the runtime expects. */
async function typeCheck(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const uses = Object.keys(files)
    .filter((path) => path.startsWith('entities/') && path.endsWith('.cjs'))
    .map((path, index) =>
      [
        `import b${index} = require(${JSON.stringify(`./${path}`)})`,
        `const e${index}: EntityBuilder = b${index}`,
        `void e${index}`,
      ].join('\n'),
    )
  const contract = JSON.stringify(join(root, 'runtime/contract/builder.ts'))
  await writeFile(
    join(folder, 'use.cts'),
    [
      `import type { EntityBuilder, CallBuilder } from ${contract} with { 'resolution-mode': 'import' }`,
      `import functions = require('./functions.cjs')`,
      `const calls: Readonly<Record<string, CallBuilder>> = functions`,
      'void calls',
      ...uses,
    ].join('\n'),
  )
  const options = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    skipLibCheck: false,
    skipDefaultLibCheck: true,
    types: [],
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['**/*.cts', '**/*.d.cts'] }),
  )
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}
