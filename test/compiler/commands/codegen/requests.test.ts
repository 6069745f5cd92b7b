import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  getVariableValues,
  parse,
  validate,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { schemaCommand } from '../../../../compiler/commands/schema.ts'
import { clientFiles } from '../../../../compiler/commands/codegen/client.ts'
import { layOut, typesOf } from '../../../../compiler/commands/codegen/layout.ts'
import { askedTables, functionsOf, methodsOf } from '../../../../compiler/commands/codegen/methods.ts'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { createCompiler } from '../../../../compiler/compile.ts'
import { writeArtifacts } from '../../../../compiler/emit/disk.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { createClient } from '../../../../runtime/client/client.ts'
import { startAuthServer } from '../../../support/auth.ts'
import { runCommand } from '../../../support/command.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createApplication, type Application, type Module } from '../../../support/generated-client.ts'
import { expectedSchema } from '../../../support/golden/sdl.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create type mood as enum ('fine', 'sad');
  create table person (id int primary key, name text not null, hidden boolean not null default false);
  create table letter (
    id bigint generated always as identity primary key,
    author_id int references person, mood mood, weight numeric(6, 2), sizes bigint[],
    sent timestamptz, local timestamp);
  comment on table letter is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "groups": {"enabled": true}})';
  create function heavy(bound numeric) returns setof letter stable language sql as
    'select * from letter where weight >= bound';
  create function tomorrow(today timestamptz) returns timestamptz immutable language sql as
    $$ select today + interval '1 day' $$;
  alter table person enable row level security;
  create policy seen on person for select using (not hidden);
  grant usage on schema public to anon, authenticated;
  grant select on person to anon, authenticated;
  grant select (id, author_id, mood) on letter to anon;
  grant all on letter to authenticated;
  insert into person values (1, 'Ada', false), (2, 'Bob', true);
  insert into letter (author_id, mood, weight, sizes, sent, local) values
    (1, 'fine', 12.50, '{9007199254740993, null}', '2024-02-29 18:23:00+01', '2024-02-29 18:23:00'),
    (2, 'sad', null, null, null, 'infinity');
`

describe('a generated client and the service', () => {
  let app: Application
  let db: Module
  let functions: Module
  const scalars = ['--scalars', 'BigInt=bigint,Datetime=Date']
  const from = (): Readonly<Record<string, readonly string[]>> => ({
    database: ['--from', server.db.url],
    service: ['--from', server.url],
  })

  const server = forSuite(startAuthServer, { sql })
  beforeAll(async () => {
    app = createApplication()
    const environment = { JWT_SECRET: server.secret }
    for (const [name, args] of Object.entries(from())) {
      const out = ['--out', join(app.folder, name), '--role', 'authenticated', ...scalars]
      expect(await app.codegen([...args, ...out], environment)).toMatchObject({ exitCode: 0 })
    }
    const token = signToken({ role: 'authenticated', sub: '00000000-0000-4000-8000-000000000001' }, server.secret)
    const asMember: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${token}` } })
    const client = createClient(server.url, server.anon, { fetch: asMember })
    db = (await app.load('database/db.js')).createDb(client)
    functions = (await app.load('database/functions.js')).createFunctions(client)
  })
  afterAll(async () => {
    app?.remove()
  })

  it('reads what was selected, and nothing else', async () => {
    const select = { id: true, mood: true, weight: true, sizes: true, sent: true, author: { name: true } }
    expect(await db.letter.list({ orderBy: [{ id: 'AscNullsLast' }], select })).toEqual({
      data: [
        {
          id: 1n,
          mood: 'fine',
          weight: '12.50',
          sizes: [9007199254740993n, null],
          sent: new Date('2024-02-29T17:23:00Z'),
          author: { name: 'Ada' },
        },
        { id: 2n, mood: 'sad', weight: null, sizes: null, sent: null, author: null },
      ],
      error: null,
      extensions: {},
    })
  })

  it('reads timestamps without time zone as UTC, and what no Date can hold as an invalid one', async () => {
    const { data } = await db.letter.list({ orderBy: [{ id: 'AscNullsLast' }], select: { local: true } })
    expect(data).toEqual([{ local: new Date('2024-02-29T18:23:00Z') }, { local: new Date(Number.NaN) }])
  })

  it('reads pages, and pages within rows', async () => {
    const inner = { filter: { mood: { eq: 'fine' } }, first: 1, select: { rows: { id: true }, totalCount: true } }
    const select = {
      rows: { letterCollection: inner },
      edges: { cursor: true, node: { id: true } },
      pageInfo: { hasNextPage: true },
    }
    expect((await db.person.page({ first: 1, select })).data).toEqual({
      rows: [{ letterCollection: { rows: [{ id: 1n }], totalCount: 1 } }],
      edges: [{ cursor: expect.any(String), node: { id: 1 } }],
      pageInfo: { hasNextPage: false },
    })
    const figures = { aggregate: { count: true, max: { id: true, weight: true, sent: true }, avg: { weight: true } } }
    expect((await db.letter.page({ select: figures })).data).toEqual({
      aggregate: {
        count: 2,
        max: { id: 2, weight: 12.5, sent: new Date('2024-02-29T17:23:00Z') },
        avg: { weight: 12.5 },
      },
    })
  })

  it('asks for groups with arguments of their own', async () => {
    const key = { mood: true, author: { name: true } }
    const groups = {
      by: [{ mood: 'VALUE' }, { author: { name: 'VALUE' } }],
      first: 1,
      select: { key, count: true, sum: { weight: true } },
    }
    expect((await db.letter.page({ select: { groups } })).data).toEqual({
      groups: [{ key: { mood: 'fine', author: { name: 'Ada' } }, count: 1, sum: { weight: 12.5 } }],
    })
  })

  it('finds a row by its key, and null where there is none', async () => {
    expect((await db.letter.get({ id: 1n, select: { mood: true } })).data).toEqual({ mood: 'fine' })
    expect((await db.letter.get({ id: '77', select: { mood: true } })).data).toBeNull()
  })

  it('write, or say why they did not', async () => {
    const objects = [
      { weight: '0.50', sizes: [1n], sent: new Date('2024-01-01T00:00:00Z'), local: new Date('2024-01-01T00:00:00Z') },
    ]
    const added = await db.letter.insert({
      objects,
      select: { affectedCount: true, records: { id: true, sent: true, local: true } },
    })
    const [record] = added.data.records
    expect(added.data).toEqual({
      affectedCount: 1,
      records: [{ id: expect.any(BigInt), sent: objects[0]?.sent, local: objects[0]?.local }],
    })
    const which = { filter: { id: { eq: record.id } } }
    expect(
      (await db.letter.update({ set: { mood: 'sad' }, ...which, select: { records: { mood: true } } })).data,
    ).toEqual({
      records: [{ mood: 'sad' }],
    })
    expect(await db.letter.update({ set: { mood: 'sad' }, select: { affectedCount: true } })).toMatchObject({
      data: null,
      error: { status: 200 },
    })
    expect((await db.letter.delete({ ...which, select: { affectedCount: true } })).data).toEqual({ affectedCount: 1 })
  })

  it('calls functions', async () => {
    expect((await functions.heavy({ bound: '10', first: 5, select: { rows: { id: true } } })).data).toEqual({
      rows: [{ id: 1n }],
    })
    const today = new Date('2024-02-28T12:00:00Z')
    expect((await functions.tomorrow({ today })).data).toEqual(new Date('2024-02-29T12:00:00Z'))
  })

  it('refuses names that are none before anything is sent', async () => {
    await expect(db.letter.list({ select: { 'id } } } #': true } })).rejects.toThrow(TypeError)
    await expect(db.letter.list({ nothing: 1, select: { id: true } })).rejects.toThrow('takes no argument nothing')
    expect(await db.letter.list({ select: { constructor: true } })).toMatchObject({
      data: null,
      error: { code: expect.any(String) },
    })
  })

  it('is the same from the database and from the service', async () => {
    const check = ['--out', join(app.folder, 'database'), '--role', 'authenticated', ...scalars, '--check']
    for (const args of Object.values(from())) {
      expect(await app.codegen([...args, ...check], { JWT_SECRET: server.secret })).toMatchObject({
        exitCode: 0,
        printed: '',
      })
    }
  })

  it('lacks what anon may not do, by its key alone', async () => {
    const out = ['--out', join(app.folder, 'anon'), '--key', server.anon]
    expect(await app.codegen(['--from', server.url, ...out])).toMatchObject({ exitCode: 0 })
    const { createDb } = await app.load('anon/db.js')
    const anon = createDb(createClient(server.url, server.anon))
    expect(Object.keys(anon.letter).sort()).toEqual(['get', 'list', 'page'])
    expect((await anon.letter.list({ select: { mood: true } })).data).toHaveLength(2)
    expect(readFileSync(join(app.folder, 'anon/tables/Letter.d.ts'), 'utf8')).not.toContain('weight')
  })

  it.each(['database', 'service', 'folder'])('is followed with --watch (%s)', async (kind) => {
    const environment = { JWT_SECRET: server.secret, DATABASE_URL: server.db.url }
    const compile = async (): Promise<void> => {
      const compiled = await withSession({ url: server.db.url }, (query) =>
        createCompiler({ query, schemas: ['public'], version: null }).compile(),
      )
      await writeArtifacts(join(app.folder, 'artifacts'), await compiled.artifacts())
    }
    const place = { ...from(), folder: ['--from', join(app.folder, 'artifacts')] }[kind] ?? []
    const out = join(app.folder, `watched-${kind}`)
    const letter = (): string => readFileSync(join(out, 'tables/Letter.d.ts'), 'utf8')
    const changed = async (column: string): Promise<void> => {
      if (kind === 'folder') await compile()
      await vi.waitFor(() => expect(letter()).toContain(column), { timeout: 15_000, interval: 100 })
    }
    let stop: (text: string) => void = (): void => undefined
    const stopped = new Promise<string>((resolve) => {
      stop = resolve
    })
    const args = [...place, '--out', out, '--role', 'authenticated', '--watch']
    if (kind === 'folder') await compile()
    const running = app.codegen(args, environment, stopped)
    await changed('weight')
    await server.db.query(`alter table letter add column ${kind} int`)
    await changed(kind)
    await server.db.query('insert into person values (77, $1) on conflict do nothing', ['Cid'])
    stop('the test')
    const { exitCode, printed } = await running
    expect([exitCode, printed.split('\n').length]).toEqual([0, 2])
    // Only what changed was written again: rows, and the inputs of the table.
    expect(printed.split('\n')[1]).toMatch(/ 2 of them changed$/)
  })

  it('writes its schema again with --watch', async () => {
    let stop: (text: string) => void = (): void => undefined
    const stopped = new Promise<string>((resolve) => (stop = resolve))
    const file = join(app.folder, 'schema.graphql')
    const args = ['schema', '--from', server.url, '--role', 'authenticated', '--key', server.serviceRole]
    expect((await runCommand([schemaCommand], [...args, '--watch'])).noted).toContain('--watch goes with --out')
    const running = runCommand([schemaCommand], [...args, '--watch', '--out', file], { stop: stopped })
    const written = (column: string): Promise<void> =>
      vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain(column), { timeout: 15_000, interval: 50 })
    await written('weight')
    await server.db.query('alter table letter add column of_the_schema int')
    await written('ofTheSchema')
    stop('the test')
    expect((await running).exitCode).toBe(0)
  })

  it('says what is wrong with a source', async () => {
    const out = ['--out', join(app.folder, 'never')]
    const wrong: readonly (readonly [args: readonly string[], said: RegExp])[] = [
      [['--from', server.db.url, '--role', 'nobody_at_all'], /no role nobody_at_all/],
      [['--from', join(app.folder, 'nowhere')], /Compile first/],
      [['--from', server.url], /--key, or with JWT_SECRET/],
      [['--from', server.url, '--key', 'rubbish'], /not a project key/],
      [
        ['--from', server.url, '--key', server.anon, '--role', 'authenticated'],
        /is the key of anon; for authenticated pass the key of service_role/,
      ],
      [['--from', server.url, '--key', signToken({ role: 'anon' }, 'another secret')], /answers: /],
      [['--from', 'http://127.0.0.1:1', '--key', server.anon], /does not answer/],
      [['--from', server.db.url, '--scalars', 'BigInt=number'], /does not know "BigInt=number"/],
    ]
    for (const [args, said] of wrong) {
      const answer = await app.codegen([...args, ...out])
      expect([answer.exitCode > 0, answer.noted]).toEqual([true, expect.stringMatching(said)])
      expect(answer.noted).not.toMatch(/postgres:\/\/|eyJ/)
    }
    await server.db.query(`comment on schema public is '@graphql({"inflect_names": true})'`)
    await sleep(50)
    expect((await app.codegen(['--from', server.url, '--key', server.anon, ...out])).noted).toContain(
      'switch introspection on',
    )
    const any = ['--from', server.url, '--role', 'authenticated', '--key', server.serviceRole]
    const made = join(app.folder, 'without-introspection')
    expect(await app.codegen([...any, '--out', made])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(made, 'tables/Letter.d.ts'), 'utf8')).toContain('insert')
  })
})

describe('requests of generated clients', () => {
  const names = (
    'settings upsert distinct-on order-by-related relation-filters function-shapes composite-keys composites ' +
    'many-to-many links soft-delete unions interfaces interface-collections'
  ).split(' ')
  let app: Application
  beforeAll(() => {
    app = createApplication()
  })
  afterAll(() => app?.remove())

  it.each(names)('are valid whatever is selected (%s)', async (name) => {
    const schema = expectedSchema(name)
    for (const [path, text] of Object.entries(clientFiles(schema, {}))) app.write(`${name}/${path}`, text)
    const sent: { document: string; variables: Record<string, unknown> }[] = []
    const graphql = async (document: string, variables: Record<string, unknown>): Promise<unknown> => {
      sent.push({ document, variables })
      return { data: null, error: 'none of its business' }
    }
    const tables = (await app.load(`${name}/db.js`)).createDb({ graphql })
    const db = { ...tables, $functions: (await app.load(`${name}/functions.js`)).createFunctions({ graphql }) }
    const layout = layOut(schema)
    const functions = functionsOf(layout).filter(({ field }) => isObjectType(getNamedType(field.type)))
    const calls = [
      ...askedTables(layout).flatMap(({ table }) =>
        methodsOf(layout, table)
          .filter(({ operation }) => operation !== 'subscription')
          .map((method) => ({ table: table.name, row: table.row, method })),
      ),
      ...functions.map((method) => ({ table: '$functions', row: getNamedType(method.field.type), method })),
    ]
    const law = fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.infiniteStream(fc.nat()),
      async ({ table, row, method }, stream) => {
        const draw = (below: number): number => (stream.next().value ?? 0) % below
        const type = (method.rows ? row : getNamedType(method.field.type)) as GraphQLObjectType
        const args = drawArguments(method.field.args, draw, 2)
        await db[table][method.name]({ ...args, select: drawSelection(schema, type, draw, 3) })
        const { document, variables } = sent.pop() ?? { document: '', variables: {} }
        const parsed = parse(document)
        expect(validate(schema, parsed).map(({ message }) => message)).toEqual([])
        const [definition] = parsed.definitions
        if (definition?.kind !== 'OperationDefinition') throw new Error('there is no operation')
        expect(
          getVariableValues(schema, definition.variableDefinitions ?? [], onWire(variables)).errors,
        ).toBeUndefined()
      },
    )
    await fc.assert(law, { numRuns: 60 })
  })
})

/** Values as a service reads them: without what every object has, such as a constructor. */
const onWire = (variables: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(variables), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.assign(Object.create(null), value)
      : value,
  )

type Draw = (below: number) => number

/** A selection and arguments, as the declarations let them pass. */
function drawSelection(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  draw: Draw,
  depth: number,
): Record<string, unknown> {
  const fields = Object.values(type.getFields()).filter(() => draw(3) === 0)
  const chosen = fields.flatMap((field) => {
    const named = getNamedType(field.type)
    const types = isAbstractType(named) ? typesOf(schema, named) : []
    if ((isObjectType(named) || types.length > 0) && depth === 0) return []
    const select = isObjectType(named)
      ? { select: drawSelection(schema, named, draw, depth - 1) }
      : types.length > 0
        ? { select: drawTypes(schema, types, draw, depth - 1) }
        : {}
    return [
      [
        field.name,
        field.args.length === 0 ? (select.select ?? true) : { ...drawArguments(field.args, draw, 1), ...select },
      ],
    ]
  })
  const edges = getNamedType(type.getFields()['edges']?.type)
  const node = isObjectType(edges) ? getNamedType(edges.getFields()['node']?.type) : undefined
  if (depth === 0 || !isCompositeType(node)) return Object.fromEntries(chosen)
  const rows = isAbstractType(node)
    ? drawTypes(schema, typesOf(schema, node), draw, depth - 1)
    : drawSelection(schema, node, draw, depth - 1)
  return { ...Object.fromEntries(chosen), rows }
}

/** The selection of each possible type. */
const drawTypes = (schema: GraphQLSchema, types: readonly GraphQLObjectType[], draw: Draw, depth: number): object =>
  Object.fromEntries(types.map((one) => [one.name, drawSelection(schema, one, draw, depth)]).filter(() => draw(3) > 0))

interface Argument {
  readonly name: string
  readonly type: GraphQLInputType
  readonly defaultValue?: unknown
}

const drawArguments = (args: readonly Argument[], draw: Draw, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    args
      .filter(({ type, defaultValue }) => (isNonNullType(type) && defaultValue === undefined) || draw(4) === 0)
      .map(({ name, type }) => [name, drawValue(type, draw, depth)]),
  )

function drawValue(type: GraphQLInputType, draw: Draw, depth: number): unknown {
  if (isNonNullType(type)) return drawValue(type.ofType, draw, depth)
  if (isListType(type)) return [drawValue(type.ofType, draw, depth)]
  if (isEnumType(type)) return type.getValues()[draw(type.getValues().length)]?.name
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || depth > 0)
    return drawArguments(fields, draw, depth - 1)
  }
  if (type.name === 'Int' || type.name === 'Float') return draw(100)
  if (type.name === 'Boolean') return draw(2) === 0
  return type.name === 'BigInt' ? BigInt(draw(100)) : String(draw(100))
}
