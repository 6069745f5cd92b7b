import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallBuilder, EntityBuilder } from '../../../runtime/contract/builder.ts'
import { objectId } from '../../../runtime/contract/object-id.ts'
import { evaluateModule } from '../../../runtime/engine/load.ts'
import { makeArtifacts } from '../../../compiler/emit/artifacts.ts'
import { entityModule } from '../../../compiler/emit/builders.ts'
import { callsModule } from '../../../compiler/emit/calls.ts'
import { createEmitter } from '../../../compiler/emit/emit.ts'
import { entitySamples } from '../../../compiler/emit/samples.ts'
import { createSqlParser, statementShape } from '../../../compiler/emit/sql-parser.ts'
import type { JsonForm } from '../../../compiler/model/types.ts'
import { call, column, entity, model } from './models.ts'

const seed = Number(process.env['SEED'] ?? 20_250_801)

const builderOf = (item: Parameters<typeof entityModule>[0]): EntityBuilder => evaluateModule(entityModule(item), 'entity') as EntityBuilder
const callsOf = (items: Parameters<typeof callsModule>[0]): Readonly<Record<string, CallBuilder>> =>
  evaluateModule(callsModule(items), 'functions') as Readonly<Record<string, CallBuilder>>

describe('the builder of an entity', () => {
  const posts = entity('public', 'posts', {
    columns: [
      column('id', 'int4', { notNull: true }),
      column('title', 'varchar(8)'),
      column('tags', 'text[]'),
      column('boxes', 'box[]', { plainDelimiter: false }),
      column('box', 'box', { plainDelimiter: false }),
    ],
    joins: [{ id: 'forward author', local: ['a', 'b'], foreign: ['x', 'y'] }],
    computed: [{ field: 'full', schema: 'public', function: 'full_name', json: { kind: 'text' } }],
  })
  const built = builderOf(posts)

  it('quotes the relation and its columns', () => {
    expect(built.relation).toBe('"public"."posts"')
    expect(built.columns['title']?.of('t1')).toBe('t1."title"')
  })

  it('casts operands to the exact type', () => {
    expect(built.columns['title']?.operand('$1')).toBe('$1::varchar(8)')
    expect(built.columns['title']?.operands('$1')).toBe('$1::varchar(8)[]')
  })

  it('reads arrays whose delimiter is no comma through text[]', () => {
    expect(built.columns['tags']?.operand('$1')).toBe('$1::text[]')
    expect(built.columns['boxes']?.operand('$1')).toBe('$1::text[]::box[]')
    expect(built.columns['box']?.operand('$1')).toBe('$1::box')
    expect(built.columns['box']?.operands('$1')).toBe('$1::text[]::box[]')
  })

  it('takes scalars and arrays out of a record as text', () => {
    expect(built.columns['title']?.recordType).toBe('text')
    expect(built.columns['tags']?.recordType).toBe('text[]')
    expect(built.columns['title']?.fromRecord('x."title"')).toBe('(x."title")::varchar(8)')
  })

  it('keeps NOT NULL', () => {
    expect([built.columns['id']?.notNull, built.columns['title']?.notNull]).toEqual([true, false])
  })

  it('makes node ids without line breaks (7.1)', () => {
    expect(built.nodeId(['t."id"'])).toBe(
      `pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to(pg_catalog.jsonb_build_array('public', 'posts', t."id")::text, 'UTF8'), 'base64'), E'\\n', '')`,
    )
  })

  it('joins all columns of a key', () => {
    expect(built.joins['forward author']?.('l', 'f')).toBe('f."x" = l."a" and f."y" = l."b"')
  })

  it('calls computed fields with the row', () => {
    expect(built.computed['full']?.of('t1')).toBe('"public"."full_name"(t1)')
    expect(built.computed['full']?.json('v')).toBe('(v)::text')
  })

  it.each<[JsonForm, string]>([
    [{ kind: 'native' }, 'v'],
    [{ kind: 'text' }, '(v)::text'],
    [{ kind: 'text-array' }, '(v)::text[]'],
    [{ kind: 'json-text' }, `((v) #>> '{}')`],
    [{ kind: 'mapped', names: [['it\'s', 'ITS'], ['a\\b', 'AB']] }, `case (v)::text when 'it''s' then 'ITS' when E'a\\\\b' then 'AB' else (v)::text end`],
  ])('prints JSON form %j', (json, sql) => {
    expect(builderOf(entity('s', 't', { columns: [column('c', 'x', { json })] })).columns['c']?.json('v')).toBe(sql)
  })

  it('finds nothing by the names that every object has', () => {
    expect(built.columns['constructor']).toBeUndefined()
    const odd = builderOf(entity('s', 't', { columns: [column('__proto__')] }))
    expect(Object.keys(odd.columns)).toEqual(['__proto__'])
    expect(odd.columns['__proto__']?.of('t')).toBe('t."__proto__"')
  })

  it('keeps types apart whose names look alike', () => {
    const odd = builderOf(entity('s', 't', { columns: [column('a', '"a b"'), column('b', '"a-b"'), column('c', 'int4[]'), column('d', 'int4_array')] }))
    expect(Object.values(odd.columns).map(({ operand }) => operand('$1'))).toEqual(['$1::"a b"', '$1::"a-b"', '$1::int4[]', '$1::int4_array'])
  })
})

describe('the builders of root functions', () => {
  it('pass each argument by name in its type', () => {
    const args = [
      { field: 'a', name: 'A', type: 'int4', array: false, plainDelimiter: true },
      { field: 'boxes', name: 'boxes', type: 'box[]', array: true, plainDelimiter: false },
    ]
    const built = callsOf([call('public', 'add', { args, json: { kind: 'text' } })])[objectId('public', 'add')]
    expect(built?.name).toBe('"public"."add"')
    expect(built?.args['a']?.('$1')).toBe('"A" => $1::int4')
    expect(built?.args['boxes']?.('$2')).toBe('"boxes" => $2::text[]::box[]')
    expect(built?.json('v')).toBe('(v)::text')
  })

  it('are an empty record when there is none', () => {
    expect(Object.keys(callsOf([]))).toEqual([])
  })
})

// Whatever Postgres allows as a name: anything but NUL.
const hostileParts = ['"', "'", '\\', '`', '${', '}', '*/', '/*', '--', '$$', '$a$', '\n', '\r', '\u2028', '\u2029', '\u202e', ';', '%', 'é', '😀', ' ', '__proto__', 'a', 'E', "E'", 'U&"', '\\n', ');']
const hostile = fc.array(fc.oneof(fc.constantFrom(...hostileParts), fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'))), { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')).filter((name) => name !== '')
const json: fc.Arbitrary<JsonForm> = fc.oneof(
  fc.constantFrom<JsonForm>({ kind: 'native' }, { kind: 'text' }, { kind: 'text-array' }, { kind: 'json-text' }),
  fc.array(fc.tuple(hostile, hostile), { maxLength: 3 }).map((names): JsonForm => ({ kind: 'mapped', names })),
)
const quotedType = hostile.map((name) => `"${name.replaceAll('"', '""')}"`)
const hostileEntity = fc
  .record({ schema: hostile, relation: hostile, columns: fc.uniqueArray(fc.record({ name: hostile, type: quotedType, json }), { selector: ({ name }) => name, minLength: 1, maxLength: 4 }), other: hostile })
  .map(({ schema, relation, columns, other }) =>
    entity(schema, relation, {
      columns: columns.map(({ name, type, json }) => column(name, type, { json })),
      joins: [{ id: other, local: [other], foreign: [other] }],
      computed: [{ field: other, schema, function: other, json: { kind: 'native' } }],
    }),
  )

describe(`any names (SEED=${seed})`, () => {
  const parse = createSqlParser()
  const runs = { seed, numRuns: 60 }

  it('give modules that evaluate and SQL that parses as one statement', async () => {
    await fc.assert(
      fc.asyncProperty(hostileEntity, async (item) => {
        const built = builderOf(item)
        expect(Object.keys(built.columns).sort()).toEqual(item.columns.map(({ column }) => column).sort())
        for (const { sql } of entitySamples(built)) expect(await parse(sql), sql).toBeNull()
      }),
      runs,
    )
  })

  it('parse the same by their shape and by themselves', async () => {
    await fc.assert(
      fc.asyncProperty(hostileEntity, async (item) => {
        for (const { sql } of entitySamples(builderOf(item))) {
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
    const entities = fc.sample(hostileEntity, { seed, numRuns: 25 }).map((item, index) => ({ ...item, id: objectId(item.schema, `${item.relation}${index}`) }))
    const named = model(entities, [call('s', 'f', { args: [{ field: "a'b", name: 'x', type: 'int4', array: false, plainDelimiter: true }] })])
    const { value } = await createEmitter()(named, null)
    await typeCheck(makeArtifacts(named, value, () => 'type Query').files)
  })
})

describe('statement shapes', () => {
  it('are equal when only names and strings differ', () => {
    expect(statementShape(`select "a", 'x' from "b"`)).toBe(statementShape(`select "c""d", 'it''s' from "e"`))
  })

  it.each(['select "a""', "select 'a''", 'select "a" -- "b"', 'select /* " */ 1', 'select $x$ " $x$', 'select ""', "select 'a\\'"])(
    'are the text itself when quotes may be cut elsewhere: %s',
    (sql) => expect(statementShape(sql)).toBe(sql),
  )

  it('do not grow with the labels of an enum', () => {
    const when = ` when 'a' then 'b'`
    expect(statementShape(`case x${when.repeat(5_000)} else y end`).length).toBeLessThan(60)
  })
})

describe('the parser', () => {
  const parse = createSqlParser()

  it('tells what is no statement, or more than one', async () => {
    expect(await parse('select 1')).toBeNull()
    expect(await parse('select 1; select 2')).toBe('2 statements instead of one')
    expect(await parse('selct 1')).toMatch(/syntax error/)
    expect(await parse('')).toBe('0 statements instead of one')
    expect(await parse('select "a\0b"')).toMatch(/NUL/)
  })

  it('stays right beyond what one instance survives', async () => {
    for (let index = 0; index < 400; index++) {
      expect(await parse(`select ${Array.from({ length: 40 }, (_, at) => `c${index}_${at}`).join(', ')}`)).toBeNull()
    }
    expect(await parse('select from where x')).toMatch(/syntax error/)
  })
})

describe('the emitter', () => {
  it('tells an object whose SQL does not parse, and keeps it', async () => {
    const broken = entity('public', 'Odd', { columns: [column('a', 'no such (')] })
    const { value, diagnostics } = await createEmitter()(model([broken]), null)
    expect(diagnostics.map(({ code, severity, object }) => [code, severity, object])).toEqual([
      ['statement-refused', 'error', 'relation public."Odd"'],
    ])
    expect(Object.keys(value.entities)).toEqual([broken.id])
  })

  it('gives other content another id, and another version the same', async () => {
    const emit = createEmitter()
    const [one, two] = [entity('public', 'a'), entity('public', 'a', { columns: [column('id', 'int8')] })]
    const ids = [await emit(model([one]), '1'), await emit(model([one]), '2'), await emit(model([two]), '2')].map(({ value }) => value.id)
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/)
  })

  it('writes one line of the manifest for each entity', async () => {
    const both = model([entity('public', 'a'), entity('public', 'b')])
    const { value } = await createEmitter()(both, null)
    const text = makeArtifacts(both, value, () => '').files['manifest.json'] ?? ''
    expect(JSON.parse(text)).toEqual(both.manifest)
    expect(text.split('\n').filter((line) => line.includes('"relation":"a"'))).toHaveLength(1)
  })

  it('prints the schema of the roles that exist', async () => {
    const one = model([entity('public', 'a')])
    const { value } = await createEmitter()(one, null)
    const { files } = makeArtifacts(one, value, (_, role) => `# ${role}`)
    expect(Object.keys(files).filter((path) => path.endsWith('.graphql'))).toEqual(['schema.anon.graphql'])
    expect(files['schema.anon.graphql']).toBe('# anon\n')
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
    .map((path, index) => `import b${index} = require(${JSON.stringify(`./${path}`)})\nconst e${index}: EntityBuilder = b${index}\nvoid e${index}`)
  const contract = JSON.stringify(join(root, 'runtime/contract/builder.ts'))
  await writeFile(
    join(folder, 'use.cts'),
    [`import type { EntityBuilder, CallBuilder } from ${contract} with { 'resolution-mode': 'import' }`, `import functions = require('./functions.cjs')`, `const calls: Readonly<Record<string, CallBuilder>> = functions`, 'void calls', ...uses].join('\n'),
  )
  const options = { strict: true, noEmit: true, module: 'nodenext', target: 'es2023', skipLibCheck: false, types: [], verbatimModuleSyntax: true, allowImportingTsExtensions: true }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['**/*.cts', '**/*.d.cts'] }))
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}
