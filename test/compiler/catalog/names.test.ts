import { afterEach, describe, expect, test } from 'vitest'
import { catalogOf, typeName } from '../../support/catalog.ts'
import { createDatabase, majors, type TestDatabase } from '../../support/database.ts'

const hostile = [
  'quo"te',
  "apo'strophe",
  'back\\slash',
  '$1',
  '$$',
  'per%cent %s',
  'sp ace',
  'ünï😀',
  '\u202e',
  '__proto__',
  'select',
  'constructor',
  '{a,b}',
  '[]',
  'tab\tnew\nline',
  '42',
  'UPPER',
  '--',
  '/*',
  ';',
  'é'.repeat(31),
]

const operands = [
  ['name', 'text'],
  ['oid', 'int4'],
  ['int2', 'int4'],
  ['regproc', 'regproc'],
  ['oid', 'regclass'],
  ['"char"', 'text'],
  ['int8', 'int2'],
] as const

const heads = ['min(int4)', 'unnest(int2[])', 'format_type(oid, int2)', 'starts_with(name, text)', 'json_agg(name)']

/** Operators and functions whose operands fit closer than those of pg_catalog, where it has no exact match. */
const plantedSql = (): string => {
  const body = `language plpgsql as 'begin raise exception ''trap''; end'`
  const operators = operands.flatMap(([left, right], index) => [
    `create function public.trap_${index}(${left}, ${right}) returns bool ${body}`,
    ...['=', '<>', '>', '>=', '<'].map(
      (sign) => `create operator public.${sign} (leftarg = ${left}, rightarg = ${right}, function = trap_${index})`,
    ),
  ])
  return [...operators, ...heads.map((head) => `create function public.${head} returns int ${body}`)].join(';')
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const open: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.drop()))
})

describe.each(majors().map((major) => [major] as const))('names on PostgreSQL %i', (major) => {
  test('names that hold anything come back as they are, whatever they name', async () => {
    const database = await createDatabase({ major })
    open.push(database)
    for (const name of hostile) {
      const id = quoted(name)
      const table = quoted(`t ${name.slice(0, 20)}`)
      const comment = `'${name.replaceAll("'", "''")}'`
      await database.query(`
        create schema ${id};
        create type ${id}.${id} as enum (${comment});
        create table ${id}.${table} (${id} ${id}.${id} primary key, other ${id}.${id}[]);
        comment on type ${id}.${id} is ${comment};
        create function ${id}.${id}(${id} ${id}.${id} default ${comment}) returns int language sql as 'select 1';`)
    }
    const catalog = await catalogOf(database, hostile)
    const byBytes = [...hostile].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(catalog.schemas.map((schema) => schema.name)).toEqual(hostile)
    expect(catalog.relations.map((relation) => relation.schema)).toEqual(byBytes)
    for (const relation of catalog.relations) {
      const name = relation.schema
      expect(relation.name).toBe(`t ${name.slice(0, 20)}`)
      expect(relation.primaryKey).toEqual([name])
      expect(relation.columns.map((column) => column.name)).toEqual([name, 'other'])
      const type = catalog.types.find((item) => item.oid === relation.columns[0]?.type)
      expect(type).toMatchObject({ schema: name, name, labels: [name], comment: name })
      const made = catalog.functions.find((item) => item.schema === name)
      expect(made).toMatchObject({ name, args: [{ name, typeText: type?.text }] })
      // Postgres itself agrees that the printed text means the type, whatever the search path.
      const [row] = (await database.query('select $1::regtype::oid::text as oid', [type?.text])).rows
      expect(row).toEqual({ oid: type?.oid })
      expect(typeName(catalog, relation.columns[1]?.type ?? null)).toBe(`${type?.text}[]`)
    }
  })

  test('a schema name too long for Postgres names no schema, not a shorter one', async () => {
    const name = 'x'.repeat(63)
    const database = await createDatabase({ major, sql: `create schema ${name}` })
    open.push(database)
    expect((await catalogOf(database, [`${name}y`])).schemas).toEqual([])
    expect((await catalogOf(database, [name])).schemas).toHaveLength(1)
  })

  test('a search path that hides or shows types changes no printed name', async () => {
    const database = await createDatabase({
      major,
      sql: `create schema other; create type other.mood as enum ('a'); create type public.uuid as enum ('b');
        create function public.f(m other.mood default 'a') returns pg_catalog.uuid language sql
          as 'select null::pg_catalog.uuid';
        create table public.t (a other.mood, b public.uuid, c pg_catalog.uuid, d other.mood[])`,
    })
    open.push(database)
    const texts = async (path: string): Promise<unknown> => {
      await database.query(`set search_path = ${path}`)
      const catalog = await catalogOf(database)
      return [
        catalog.relations[0]?.columns.map((column) => column.typeText),
        catalog.functions.map((item) => [item.defaults, typeName(catalog, item.result)]),
      ]
    }
    const expected = [['other.mood', 'public.uuid', 'uuid', 'other.mood[]'], [["'a'::other.mood", 'uuid']]]
    expect(await texts('public')).toEqual(expected)
    expect(await texts('other, public')).toEqual(expected)
    expect(await texts("''")).toEqual(expected)
    expect(await texts('public, pg_catalog')).toEqual(expected)
  })

  test('functions and operators that others planted in the search path are never called', async () => {
    const database = await createDatabase({ major, sql: 'create table t (id int primary key, up int references t)' })
    open.push(database)
    const before = await catalogOf(database)
    await database.query(plantedSql())
    await database.query('set search_path = public')
    const { functions: _functions, types: _types, ...after } = await catalogOf(database)
    expect(before).toMatchObject(after)
  })
})
