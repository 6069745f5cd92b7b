import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { fingerprints, type Fingerprints } from '../../support/fingerprint.ts'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import { catalogOf } from '../../support/catalog.ts'
import { createDatabase, type Major, type TestDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'

const open: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.drop()))
})

const made = async (major: Major, statements: readonly string[]): Promise<TestDatabase> => {
  const database = await createDatabase({ major, sql: statements.join(';\n') })
  open.push(database)
  return database
}

const objects = [
  `create type mood as enum ('a', 'b')`,
  `create domain short as text check (length(value) < 9)`,
  `create table zebra (id int primary key, note text)`,
  `create table apple (id int primary key, price numeric(6, 2) not null)`,
  `create view "Middle" as select 1 as one`,
  `create function over(a int) returns int language sql as 'select 1'`,
  `create function over(a text) returns int language sql as 'select 1'`,
  `create function over(a bool, b int) returns int language sql as 'select 1'`,
]

const names = (catalog: Catalog): unknown => [
  catalog.relations.map((relation) => relation.name),
  catalog.functions.map((item) => item.args.map((arg) => arg.typeText)),
  catalog.types.map((type) => type.text),
]

/** The keys of what differs. */
const changed = (before: Fingerprints, after: Fingerprints): unknown => {
  const differing = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] =>
    [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key))
  return {
    database: before.database !== after.database,
    relations: differing(before.relations, after.relations),
    types: differing(before.types, after.types),
    functions: differing(before.functions, after.functions),
  }
}
const nothing = { database: false, relations: [], types: [], functions: [] }

describe.each(lawMajors().map((major) => [major] as const))('stability on PostgreSQL %i', (major) => {
  test('the order in which objects were made shows nowhere', async () => {
    const forwards = await catalogOf(await made(major, objects))
    const backwards = await catalogOf(await made(major, [...objects].reverse()))
    expect(names(backwards)).toEqual(names(forwards))
    const [a, b] = [fingerprints(forwards), fingerprints(backwards)]
    // Roles belong to the cluster, and other tests make some at the same time.
    expect(changed(a, { ...b, database: a.database })).toEqual(nothing)
    expect([...a.relations.keys()]).toEqual(['["public","Middle"]', '["public","apple"]', '["public","zebra"]'])
  })

  const kept = forSuite(createDatabase, { major, sql: objects.join(';\n') })
  test.each([
    ['alter table zebra add column more int', { relations: ['["public","zebra"]'] }],
    ['alter table zebra alter column note set not null', { relations: ['["public","zebra"]'] }],
    [`comment on column apple.price is 'money'`, { relations: ['["public","apple"]'] }],
    ['grant select (note) on zebra to anon', { relations: ['["public","zebra"]'] }],
    ['alter table apple enable row level security', { relations: ['["public","apple"]'] }],
    ['alter table apple alter column price type numeric(8, 2)', { relations: ['["public","apple"]'] }],
    ['create unique index on apple (price)', { relations: ['["public","apple"]'] }],
    [`alter type mood add value 'c'`, { types: ['public.mood'] }],
    [`comment on type mood is 'x'`, { types: ['public.mood'] }],
    ['grant execute on function over(text) to anon', { functions: ['["public","over"](text)'] }],
    ['create table fig (id int)', { relations: ['["public","fig"]'] }],
    ['drop table zebra; create table zebra (id int primary key, note text)', {}],
    ['create temp table hot (id int); create index on apple (price); insert into apple values (1, 2)', {}],
  ])('is kept: %s', async (ddl, expected) => {
    await kept.query('begin')
    onTestFinished(async () => void (await kept.query('rollback')))
    const before = fingerprints(await catalogOf(kept))
    // Reading has set its own.
    await kept.query(`set search_path = public; ${ddl}`)
    const after = fingerprints(await catalogOf(kept))
    expect(changed({ ...before, database: '' }, { ...after, database: '' })).toEqual({ ...nothing, ...expected })
  })

  test('a comment on a served schema changes what all objects depend on', async () => {
    const database = await made(major, objects)
    const before = fingerprints(await catalogOf(database))
    await database.query(`comment on schema public is 'new'`)
    expect(fingerprints(await catalogOf(database)).database).not.toBe(before.database)
  })

  test('objects that come and go while it reads never make it fail', async () => {
    const database = await made(major, objects)
    const other = await import('pg').then(({ default: pg }) => new pg.Client(database.ownerUrl))
    await other.connect()
    let storming = true
    const storm = (async () => {
      while (storming) {
        await other.query(`create type brief as enum ('x'); create table held (a brief, b brief[]);
          create function using_it(a brief default 'x') returns brief language sql as 'select a'`)
        await other.query('drop type brief cascade; drop table held')
      }
    })()
    try {
      for (let round = 0; round < 20; round += 1) {
        const catalog = await catalogOf(database)
        const held = catalog.relations.find((relation) => relation.name === 'held')
        const texts = held?.columns.map((column) => column.typeText) ?? []
        expect(texts.length === 0 || texts.join() === 'public.brief,public.brief[]').toBe(true)
        expect(catalog.functions.some((item) => item.name === 'using_it')).toBe(held !== undefined && texts.length > 0)
      }
    } finally {
      storming = false
      await storm
      await other.end()
    }
  })
})
