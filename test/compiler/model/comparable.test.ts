import { expect, it, onTestFinished } from 'vitest'
import { createCompiler } from '../../../compiler/compile.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { createDatabase } from '../../support/database.ts'

/** Relations that only a comment declares, between columns of all types (spec/graphql.md 8, 13.2). */

const types = [
  ...[
    'smallint',
    'integer',
    'bigint',
    'numeric(9,2)',
    'real',
    'double precision',
    'money',
    'oid',
    'regclass',
    'boolean',
  ],
  ...['text', 'varchar(8)', 'character(3)', 'name', '"char"', 'uuid', 'bytea', 'json', 'jsonb', 'xml', 'jsonpath'],
  ...'date timestamp timestamptz time timetz interval inet cidr macaddr macaddr8 bit(3)'.split(' '),
  ...['varbit', 'point', 'polygon', 'circle', 'int4range', 'int8range', 'int4multirange', 'tsvector'],
  ...'integer[] bigint[] text[] varchar(8)[] json[] mood other_mood mood[] pair whole word'.split(' '),
]

it('a relation by comment has no field, and a remark, exactly where Postgres does not compare its columns', async () => {
  const columns = types.map((type, at) => `c${at} ${type}`).join(', ')
  const db = await createDatabase({
    major: 18,
    sql: `create type mood as enum ('a'); create type other_mood as enum ('a'); create type pair as (a int, b text);
      create domain whole as int; create domain word as varchar(9);
      create table one (id int primary key, ${columns}); create table other (id int primary key, ${columns})`,
  })
  onTestFinished(() => db.drop())
  const pairs = types.flatMap((_, a) => types.map((__, b) => [a, b] as const))
  const keys = pairs.map(([a, b]) => ({
    local_columns: [`c${a}`],
    foreign_schema: 'public',
    foreign_table: 'other',
    foreign_columns: [`c${b}`],
    foreign_name: `f${a}_${b}`,
    local_name: `l${a}_${b}`,
  }))
  await db.query(`comment on table one is '@graphql(${JSON.stringify({ foreign_keys: keys })})'`)
  await db.query(
    'create function compares(text) returns bool language plpgsql as $$ begin execute $1; return true; exception when others then return false; end $$',
  )
  const asked = pairs.map(([a, b]) => `select o.${ident(`c${a}`)} = p.${ident(`c${b}`)} from one o, other p`)
  const { rows } = await db.query(
    'select compares(q) as yes from unnest($1::text[]) with ordinality t(q, n) order by n',
    [asked],
  )
  const compiler = createCompiler({
    query: (text, values) => db.query(text, values),
    schemas: ['public'],
    version: null,
  })
  const { model, diagnostics } = await compiler.compile()
  const entity = model.manifest.entities.find(({ relation }) => relation === 'one')
  const fields = new Set(entity?.relations.map(({ field }) => field))
  const wrong = pairs.flatMap(([a, b], at) => {
    const isThere = fields.has(`f${a}_${b}`)
    return isThere === rows[at]?.['yes'] ? [] : [`${types[a]} = ${types[b]}: ${isThere ? 'a field' : 'none'}`]
  })
  // Kept rather than guessed: what numbers of objects are compared with.
  expect(wrong.filter((text) => !/\b(oid|regclass)\b.*: a field$/.test(text))).toEqual([
    // A time of day is not a duration.
    'time = interval: none',
    'interval = time: none',
    // Planned on no rows, and refused on any.
    'json[] = json[]: none',
  ])
  const refused = rows.filter(({ yes }) => yes !== true).length
  const remarks = diagnostics.filter(({ code }) => code === 'foreign-key-unknown')
  expect(remarks.length).toBeGreaterThan(refused / 2)
  expect(remarks.find(({ message }) => message.includes('(text)'))?.message).toMatch(
    /Entry \d+ of the comment's "foreign_keys" is skipped: Postgres does not compare "c\d+" \(.+\) with "c\d+" \(.+\)\./,
  )
})
