import fc from 'fast-check'
import { expect, it } from 'vitest'
import { legibleSql } from '../../../../compiler/catalog/diagnostics/legible-sql.ts'

it('a short statement stays on its line', () => {
  const sql = `select "id" from "public"."post" where "title" = $1::text limit 1`
  expect(legibleSql(sql)).toBe(sql)
})

it('clauses, items and queries of a long statement have lines of their own', () => {
  const columns = ['one', 'two', 'three'].map((name) => `t1."a rather long name of column ${name}" as "${name}"`)
  const inner = `select ${columns.join(', ')} from "public"."post" t1 where (t1."id" < $1::integer) order by t1."id" limit 30`
  expect(legibleSql(`select to_json((select (o.*)::record from (${inner}) o)) as r1`)).toBe(
    `select to_json((
  select (o.*)::record from (
    select t1."a rather long name of column one" as "one", t1."a rather long name of column two" as "two",
      t1."a rather long name of column three" as "three"
    from "public"."post" t1 where (t1."id" < $1::integer) order by t1."id" limit 30
  ) o
)) as r1`,
  )
})

const piece = fc.constantFrom(
  ...['select ', 'from ', 'where ', 'group by ', 'within group ', 'delete from ', 'union all select ', 'limit 1 '],
  ...[
    '(',
    ')',
    ',',
    ', ',
    '"a (b", ',
    `'it''s, (' `,
    String.raw`E'\', (' `,
    '$1::integer ',
    'a_long_name_of_a_column ',
  ],
  ...['(select ', 'array(select 1), ', '\n', '\t', '"two\nlines"', "'two\nlines'"],
)

it('legible SQL differs in white space between tokens alone', () => {
  const tokens = (sql: string): readonly string[] =>
    sql.match(/[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_]\w*|[^\s]/g) ?? []
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const sql = pieces.join('')
      expect(tokens(legibleSql(sql))).toEqual(tokens(sql))
    }),
  )
})
