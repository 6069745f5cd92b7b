import { expect, test } from 'vitest'
import { cursorText, longestOf } from '../../../runtime/graphql/statements/cursor.ts'
import { print } from '../../../runtime/sql/print.ts'
import { select, trusted } from '../../../runtime/sql/tree.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

/** Cursors of which Postgres breaks no line are written without taking breaks out; the lengths decide (spec/graphql.md 5.5). */
const db = forSuite(createDatabase)

const cursorOf = (elements: readonly { readonly value: string; readonly longest: number }[]): string => {
  const value = cursorText(elements.map((element) => ({ ...element, value: trusted(element.value) })))
  return print(select([{ value }])).text
}

test('the text of a cursor is base64 without line breaks, whatever its length', async () => {
  for (let length = 0; length < 120; length += 1) {
    const { rows } = await db.query(`${cursorOf([{ value: `repeat('x', ${length})`, longest: length + 2 }])} as text`)
    expect(rows[0]?.text).toBe(Buffer.from(JSON.stringify(['x'.repeat(length)])).toString('base64'))
  }
})

test('the text of a cursor loses breaks only where a line may be full', () => {
  const of = (...longest: number[]): boolean =>
    cursorOf(longest.map((length) => ({ value: '1', longest: length }))).startsWith('select replace(')
  expect([of(54), of(55), of(40, 12), of(40, 13), of(Infinity), of(1, Infinity)]).toEqual([
    false,
    true,
    false,
    true,
    true,
    true,
  ])
})

test('the lengths of values with few forms are known', async () => {
  const longest = [
    ['Int', `'-2147483648'::int4`],
    ['BigInt', `'-9223372036854775808'::int8`],
    ['Boolean', 'false'],
    ['Date', `'5874897-12-31'::date`],
    ['Date', `'4714-11-24 BC'::date`],
    ['Time', `'23:59:59.999999'::time`],
    ['Datetime', `'4713-12-31 23:59:59.999999 BC'::timestamptz`],
    ['Datetime', `'294276-12-30 23:59:59.999999'::timestamptz`],
    ['UUID', `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`],
  ] as const
  // Before there was a common time, that of Juneau differed by seconds too.
  await db.query(`set timezone = 'America/Juneau'`)
  for (const [name, value] of longest) {
    const { rows } = await db.query(`select to_json(${value})::text as text`)
    const most = longestOf({ kind: 'scalar', name, list: false })
    expect([name, value, rows[0]?.text, (rows[0]?.text.length ?? Infinity) <= most]).toEqual([
      name,
      value,
      expect.any(String),
      true,
    ])
  }
  expect(longestOf({ kind: 'scalar', name: 'String', list: false })).toBe(Infinity)
  expect(longestOf({ kind: 'scalar', name: 'Int', list: true })).toBe(Infinity)
})
