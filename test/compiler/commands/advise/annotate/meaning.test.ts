import * as fc from 'fast-check'
import {
  getNamedType,
  isObjectType,
  isRequiredArgument,
  isScalarType,
  isEnumType,
  type GraphQLObjectType,
} from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { annotateCommand } from '../../../../../compiler/commands/annotate.ts'
import { buildView } from '../../../../../compiler/additions/engine.ts'
import { runCommand } from '../../../../support/command.ts'
import { createTestService, type TestService } from '../../../../support/service.ts'
import { sized } from '../../../../support/whole.ts'

/** A field that is served before `annotate` means the same object after its SQL. */

const schemas = ['public', 'more']

/** Fields of a row: values as they are, of what they lead to the node ids. */
const selectionOf = (type: GraphQLObjectType): string =>
  Object.values(type.getFields())
    .filter(({ args }) => !args.some(isRequiredArgument))
    .flatMap((field) => {
      const named = getNamedType(field.type)
      if (isScalarType(named) || isEnumType(named)) return [field.name]
      if (!isObjectType(named)) return []
      const fields = named.getFields()
      if (fields['edges'] !== undefined) return [`${field.name} { edges { node { nodeId } } }`]
      return fields['nodeId'] === undefined ? [] : [`${field.name} { nodeId }`]
    })
    .join(' ')

/** Every field of every row, by the role that sees all. */
const answered = async (service: TestService): Promise<unknown> => {
  const schema = buildView((await service.revision()).manifest, 'anon').complete()
  const roots = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) => {
    const named = getNamedType(field.type)
    if (field.args.some(isRequiredArgument)) return []
    if (isScalarType(named)) return [field.name]
    const node = isObjectType(named) ? named.getFields()['edges'] : undefined
    if (node === undefined) return []
    const edge = getNamedType(node.type)
    const row = isObjectType(edge) ? getNamedType(edge.getFields()['node']?.type) : undefined
    return isObjectType(row) ? [`${field.name} { edges { node { ${selectionOf(row)} } } }`] : []
  })
  const { data, errors } = await service.graphql(`{ __typename ${roots.join(' ')} }`)
  expect(errors).toBeUndefined()
  return data
}

const annotated = async (service: TestService, ...options: readonly string[]): Promise<string> => {
  const environment = { DATABASE_URL: service.db.ownerUrl, DB_SCHEMAS: schemas.join(',') }
  const { printed, exitCode } = await runCommand([annotateCommand], ['annotate', ...options], { environment })
  expect(exitCode).toBe(0)
  return printed
}

const granted = `grant usage on schema public, more to anon; grant select on all tables in schema public, more to anon;`
const begun = 'create schema more;'

const opened = (sql: string, inflected: boolean): Promise<TestService> =>
  createTestService({
    schemas,
    sql: `${begun} ${sql} ${granted} ${
      inflected
        ? `comment on schema public is '@graphql({"inflect_names": true})'; comment on schema more is '@graphql({"inflect_names": true})';`
        : ''
    }`,
  })

describe('annotate', () => {
  it.each<readonly [what: string, sql: string, inflected: boolean, kept: readonly string[]]>([
    [
      'column that is spelt as the field, and gives the other one the spelling of the database',
      `create table acc (id int primary key, created_at int, "createdAt" timestamp not null default '2020-01-01');
       insert into acc values (1, 5);`,
      true,
      ['comment on column "public"."acc"."created_at" is \'@graphql({"name":"created_at"})\';'],
    ],
    [
      'column whose relation has another name',
      `create table area (id int primary key, name text); insert into area values (1, 'x'), (2, 'y');
       create table artist (id int primary key, area int references area, begin_area int references area);
       insert into artist values (1, 1, 2);`,
      true,
      ['"foreign_name":"areaByArea"', 'comment on column "public"."artist"."area" is \'@graphql({"name":"areaId"})\';'],
    ],
    [
      'column in the spelling of the database beside the node id',
      `create table n (id int primary key, node_id int); insert into n values (1, 7);`,
      true,
      ['"name":"node_id"'],
    ],
    [
      'enum whose name another one would be spelt as',
      `create type "a b" as enum ('x'); create type a_b as enum ('y');
       create table e (id int primary key, one "a b", two a_b); insert into e values (1, 'x', 'y');`,
      false,
      ['comment on type "public"."a b" is \'@graphql({"name":"public_a_b"})\';'],
    ],
    [
      'table with a key, though one without comes first and gets one',
      `create table label (code text not null unique); create table more.label (id int primary key);
       insert into label values ('a'); insert into more.label values (1);`,
      false,
      ['comment on table "public"."label" is \'@graphql({"primary_key_columns":["code"],"name":"public_label"})\';'],
    ],
    [
      'function that is called as a field of a table without a key',
      `create table thing (code text not null unique); insert into thing values ('a');
       create function "thingCollection"() returns int language sql stable as 'select 1';`,
      false,
      [],
    ],
  ])('keeps the field of the %s', async (_what, sql, inflected, kept) => {
    const service = await opened(sql, inflected)
    onTestFinished(() => service.close())
    const before = await answered(service)
    const printed = await annotated(service)
    for (const text of kept) expect(printed).toContain(text)
    if (kept.length === 0) expect(printed).toBe('')
    await service.db.query(printed)
    expect(await answered(service)).toMatchObject(before as object)
    expect(await annotated(service)).toBe('')
  })

  const pool = [
    'a_b',
    'aB',
    'a b',
    'AB',
    'parent',
    'parent_id',
    'parentId',
    'uCollection',
    'u',
    'u_id',
    'node_id',
    'nodeId',
  ]
  const name = fc.constantFrom(...pool)
  const table = fc.record({
    values: fc.uniqueArray(name, { maxLength: 4 }),
    keys: fc.uniqueArray(name, { maxLength: 4 }),
    functions: fc.uniqueArray(name, { maxLength: 3 }),
  })
  const worlds = fc.record({ u: table, t: table, more: table, inflected: fc.boolean() })

  /** The values of each column show which one it is. */
  const sqlOf = (world: typeof worlds extends fc.Arbitrary<infer World> ? World : never): string => {
    const tables = { u: world.u, t: world.t, 'more.u': world.more }
    return Object.entries(tables)
      .map(([table, { values, keys, functions }], place) => {
        const links = keys.filter((column) => !values.includes(column))
        const columns = [
          'id int primary key',
          ...values.map((column) => `"${column}" text default '${column}'`),
          ...links.map((column, number) => `"${column}" int default ${number + 1} references u`),
        ]
        return [
          `create table ${table} (${columns.join(', ')});`,
          `insert into ${table} (id${links.map((column) => `, "${column}"`).join('')})
            select n${links.map(() => ', null').join('')} from generate_series(1, 8) n;`,
          `insert into ${table} (id) values (${100 + place});`,
          ...functions.map(
            (fn) =>
              `create function "${fn}"(${table}) returns text language sql stable as $$select 'function ${fn} of ${table}'$$;`,
          ),
        ].join('\n')
      })
      .join('\n')
  }

  it.each([
    ['means the same object afterwards', []],
    ['means the same object afterwards, or is gone, with --words', ['--words']],
  ] as const)(
    'each field that is served %s',
    async (_title, options) => {
      const law = fc.asyncProperty(worlds, async (world) => {
        const service = await opened(sqlOf(world), world.inflected)
        try {
          const before = await answered(service)
          await service.db.query(await annotated(service, ...options))
          expectKept(before, await answered(service), options.length > 0)
        } finally {
          await service.close()
        }
      })
      await fc.assert(law, { numRuns: sized(12, 3) })
    },
    120_000,
  )
})

/** Common members are equal; earlier members still exist, unless names may be removed. */
function expectKept(before: unknown, after: unknown, mayGo: boolean): void {
  if (typeof before !== 'object' || before === null) return expect(after).toEqual(before)
  for (const [member, value] of Object.entries(before)) {
    const now = (after as Readonly<Record<string, unknown>> | null)?.[member]
    if (now !== undefined) expectKept(value, now, mayGo)
    else expect([member, mayGo]).toEqual([member, true])
  }
}
