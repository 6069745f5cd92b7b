import { describe, expect, it } from 'vitest'
import { bare } from '../../../runtime/sql/ident.ts'
import { asItems, object, objectFrom } from '../../../runtime/sql/json.ts'
import { extended, print, printOpen } from '../../../runtime/sql/print.ts'
import {
  applied,
  joined,
  parameter,
  select,
  selectList,
  sql,
  written,
  type Carried,
  type Outlet,
  type Ident,
  type Select,
  type Sql,
} from '../../../runtime/sql/tree.ts'

/** The text depends on the tree alone: in which order its parts were made leaves no trace. */

const [t, p, w] = [bare('t', 1), bare('p', 2), bare('w', 3)]
const nullOf = (of: Sql): Sql => sql`nullif(${of}, ${of})`
const outside = (alias: Ident): Outlet => ({ kind: 'outlet', alias, otherwise: sql`1`, nullOf })
const carry = (outlet: Outlet, of: Sql): Carried => ({ kind: 'carried', outlet, of, as: null })
const textOf = (statement: Select): string => print(statement).text

describe('parameters', () => {
  const a = parameter('a')
  const b = parameter('b')

  it('are numbered in the order of the text', () => {
    const later = sql`x = ${a}`
    const earlier = sql`y = ${b}`
    expect(print(select([{ value: earlier }, { value: later }]))).toEqual({
      text: 'select y = $1, x = $2',
      values: ['b', 'a'],
    })
  })
  it('are one wherever they are mentioned, and none where they are not', () => {
    const statement = select([{ value: a }], { where: [sql`x = ${a}`, sql`y = ${b}`] })
    expect(print(statement)).toEqual({ text: 'select $1 where x = $1 and y = $2', values: ['a', 'b'] })
    expect(print(select([{ value: b }]))).toEqual({ text: 'select $1', values: ['b'] })
  })
  it('stand where functions of texts put them', () => {
    const cast = applied((text) => `coalesce(${text}, ${text})::int4`, a)
    expect(textOf(select([{ value: cast }]))).toBe('select coalesce($1, $1)::int4')
    const call = written(([row = '', ...others]) => `f(${[...others, row].join(', ')})`, [sql`t1.*`, a, b])
    expect(print(select([{ value: call }]))).toEqual({ text: 'select f($1, $2, t1.*)', values: ['a', 'b'] })
  })
})

describe('an inner select', () => {
  it('leaves columns of other rows under its alias empty', () => {
    const [one, other] = [outside(w), outside(w)]
    const arm = (columns: readonly Sql[], from: Ident) =>
      select(
        columns.map((value) => ({ value })),
        { from: [{ of: from }] },
      )
    const arms = [arm([one, { kind: 'vacancy', outlet: other }], t), arm([{ kind: 'vacancy', outlet: one }, other], p)]
    const union: Sql = { kind: 'union', alias: w, arms, orderBy: [], limit: sql`2`, offset: sql`1` }
    const value = sql`f(${carry(one, sql`a`)}, ${carry(other, sql`b`)})`
    expect(textOf(select([{ value }], { from: [{ of: union, alias: w }] }))).toBe(
      'select f(w3.c1, w3.c2) from (select * from ((select a as c1, nullif(b, b) as c2 from t1) union all ' +
        '(select nullif(a, a) as c1, b as c2 from p2)) w3 limit 2 offset 1) w3',
    )
  })

  /** The statement of a write: a change that hands out columns, and an answer that uses them. */
  const changed = (made: 'change first' | 'answer first'): Select => {
    const outlet = outside(p)
    const change = (): Sql => sql`(delete from post ${t} where id = ${parameter(7)} returning ${outlet})`
    const answer = (): Sql => sql`f(${carry(outlet, sql`${t}."title"`)}, ${carry(outlet, sql`${t}."id"`)})`
    if (made === 'change first') {
      const of = change()
      return select([{ value: answer() }], { with: [{ name: p, materialized: false, of }], from: [{ of: p }] })
    }
    const value = answer()
    return select([{ value }], { with: [{ name: p, materialized: false, of: change() }], from: [{ of: p }] })
  }
  it('lists what is used outside, whichever of them was made first', () => {
    const text = `with p2 as (delete from post t1 where id = $1 returning t1."title" as c1, t1."id" as c2) select f(p2.c1, p2.c2) from p2`
    expect(textOf(changed('change first'))).toBe(text)
    expect(print(changed('answer first'))).toEqual({ text, values: [7] })
  })
  it('lists a column once, and something where nothing is used', () => {
    const outlet = outside(p)
    const of = select([{ value: outlet }], { from: [{ of: sql`post`, alias: t }] })
    const id = carry(outlet, sql`${t}.id`)
    const again = carry(outlet, sql`${t}.id`)
    const twice = select([{ value: id }], { from: [{ of, alias: p }], where: [sql`${again} > 1`] })
    expect(textOf(twice)).toBe('select p2.c1 from (select t1.id as c1 from post t1) p2 where p2.c1 > 1')
    expect(textOf(select([], { from: [{ of, alias: p }] }))).toBe('select from (select 1 from post t1) p2')
  })
  it('hands out what one further in hands out', () => {
    const [near, far] = [outside(p), outside(w)]
    const inner = select([{ value: near }], { from: [{ of: sql`post`, alias: t }] })
    const middle = select([{ value: far }], { from: [{ of: inner, alias: p }], orderBy: [carry(near, sql`${t}.a`)] })
    const outer = select([{ value: carry(far, carry(near, sql`${t}.b`)) }], { from: [{ of: middle, alias: w }] })
    expect(textOf(outer)).toBe(
      'select w3.c1 from (select p2.c2 as c1 from (select t1.a as c1, t1.b as c2 from post t1) p2 order by p2.c1) w3',
    )
  })
  it('is sorted as a union by the names that its columns have outside', () => {
    const outlet = outside(p)
    const arm = select([{ value: outlet }], { from: [{ of: sql`post`, alias: t }], limit: sql`2` })
    const of: Sql = {
      kind: 'union',
      alias: p,
      arms: [arm, arm],
      orderBy: [carry(outlet, sql`${t}.a`)],
      limit: sql`2`,
    }
    const part = '(select t1.b as c1, t1.a as c2 from post t1 limit 2)'
    expect(textOf(select([{ value: carry(outlet, sql`${t}.b`) }], { from: [{ of, alias: p }] }))).toBe(
      `select p2.c1 from (select * from (${part} union all ${part}) p2 order by p2.c2 limit 2) p2`,
    )
  })
})

describe('page sizes', () => {
  it('stand in the text, and beside it where they stand', () => {
    const size = (rows: number, plus: number): Sql => ({ kind: 'size', rows, hole: { variable: 'n', most: 30, plus } })
    const rows = { from: [{ of: sql`post`, alias: t }], limit: size(9, 0) }
    const { text, holes } = print(select([{ value: sql`${size(10, 1)} > 1` }, { value: size(9, 0) }], rows))
    expect(text).toBe('select 10 > 1, 9 from post t1 limit 9')
    expect(holes?.map(({ from, to, plus }) => [text.slice(from, to), plus])).toEqual([
      ['10', 1],
      ['9', 0],
      ['9', 0],
    ])
    expect(holes?.map(({ from }) => from)).toEqual([7, 15, 36])
    expect(print(select([{ value: sql`1` }]))).toEqual({ text: 'select 1', values: [] })
  })
})

describe('objects', () => {
  const aliases = (): (() => Ident) => {
    let count = 0
    return () => bare('o', (count += 1))
  }
  it('become items of the FROM clause that they stand below, inner ones first', () => {
    const item = asItems(aliases())
    const inner = item([['id', sql`t1.id`]])
    const text = textOf(select([{ value: item([['node', inner]]) }], { from: [{ of: sql`post`, alias: t }] }))
    expect(text).toBe(
      'select (o2.*)::record from post t1, lateral (select t1.id as "id") o1, lateral (select (o1.*)::record as "node") o2',
    )
  })
  it('are sub-selects where there are too many of them', () => {
    const item = asItems(aliases())
    const values = Array.from({ length: 34 }, (_, index) => item([['n', sql`${index}`]]))
    const text = textOf(select([{ value: joined(values, ', ') }], { from: [{ of: sql`post`, alias: t }] }))
    expect(text.match(/lateral/g)).toHaveLength(32)
    expect(text).toContain('(o32.*)::record, (select (o.*)::record from (select 32 as "n") o), ')
  })
  it('are aggregated where their keys are too long for names of columns', () => {
    const long = 'x'.repeat(64)
    const rows = { from: [{ of: sql`post`, alias: t }], limit: sql`1` }
    expect(textOf(select([{ value: object([[long, sql`1`]]) }]))).toContain(`(values ('${long}', to_json(1)))`)
    expect(textOf(select([{ value: objectFrom([[long, sql`1`]], rows) }]))).toMatch(/ from post t1 limit 1\)$/)
  })
})

describe('a select list', () => {
  it('is extended as text to what its tree would be', () => {
    const columns = [{ value: sql`1`, as: bare('r') }]
    const cte = { name: p, materialized: false, of: sql`(delete from post returning 1)` }
    const [more, condition] = [sql`now()`, sql`2 > 1`]
    for (const list of [selectList(columns), selectList(columns, [cte])]) {
      const tree: Select = { ...list, columns: [...columns, { value: more }], where: [condition] }
      expect(extended(printOpen(list).text, [more], condition)).toBe(textOf(tree))
    }
  })
  it('is what can be extended, and nothing else is', () => {
    // @ts-expect-error -- a condition would be its second one
    expect(printOpen(select([], { where: [sql`true`] })).text).toBe('select where true')
  })
})
