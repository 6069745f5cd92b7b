import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'
import { readBody } from '../../../runtime/graphql/http/request.ts'

/** spec/graphql.md 3.1, 11: numbers keep the digits that were sent, wherever Postgres would. */

const sql = `
  create domain exact as numeric;
  create table amount (id int primary key, price money, n exact, many exact[], f float8, big int8);
  create function told(a exact) returns text stable language sql as 'select a::text';
  grant all on amount to anon;
`

const service = forSuite(createTestService, { sql })

const sent = (query: string, variables: string) =>
  service.graphql(query, { variables: readBody(`{"query": "", "variables": ${variables}}`).variables })
const stored = async (column: string, id: number) =>
  (await service.db.query(`select ${column}::text as value from amount where id = ${id}`)).rows[0]?.value

const digits = (
  '12345678901234567890.123456789 90071992547409.93 25.10 -0.0010 1.0 1e2 1.5E+3 ' +
  '123456789012345678901234567890 0.1 7 1e-20'
).split(' ')

describe('a numeric domain', () => {
  it.each(digits)('stores %s as Postgres does, from a document and every place of a variable', async (text) => {
    await service.db.query('truncate amount')
    const insert = (objects: string, declared = '') =>
      `mutation ${declared} { insertIntoamountCollection(objects: ${objects}) { affectedCount } }`
    dataOf(await service.graphql(insert(`[{id: 1, n: ${text}}]`)))
    dataOf(await sent(insert('[{id: 2, n: $n}]', '($n: Opaque)'), `{"n": ${text}}`))
    dataOf(await sent(insert('$o', '($o: [amountInsertInput!]!)'), `{"o": [{"id": 3, "n": ${text}}]}`))
    dataOf(
      await sent(
        insert('$o', '($o: [amountInsertInput!]!)'),
        `{"o": [{"id": 4, "n": ${text}}, {"id": 5, "n": ${text}}]}`,
      ),
    )
    dataOf(await service.graphql(insert('[{id: 6, n: $n}]', `($n: Opaque = ${text})`)))
    const [{ expected }] = (await service.db.query(`select '${text}'::numeric::text as expected`)).rows
    for (const id of [1, 2, 3, 4, 5, 6]) expect(await stored('n', id)).toBe(expected)
    expect(dataOf(await sent('query ($n: Opaque!) { told(a: $n) }', `{"n": ${text}}`))).toEqual({ told: expected })
  })
})

it('money, and other numbers that are texts, keep theirs', async () => {
  await service.db.query('truncate amount')
  const query =
    'mutation ($m: Opaque, $b: BigInt) { insertIntoamountCollection(objects: [{id: 1, price: $m, big: $b}]) { records { price big } } }'
  expect(
    dataOf(await sent(query, '{"m": 90071992547409.93, "b": 9007199254740993}')).insertIntoamountCollection,
  ).toEqual({
    records: [{ price: '$90,071,992,547,409.93', big: '9007199254740993' }],
  })
})

describe('BigInt', () => {
  const ask = (literal: string) =>
    service.graphql(`{ amountCollection(filter: {big: {eq: ${literal}}}) { edges { node { id } } } }`)
  const askVariable = (value: string) =>
    sent(
      'query ($b: BigInt) { amountCollection(filter: {big: {eq: $b}}) { edges { node { id } } } }',
      `{"b": ${value}}`,
    )
  it.each(['1e2', '1.0e3', '5.0', '-0.0', '12.50e1', '7'])('takes %s as a whole number in both forms', async (text) => {
    dataOf(await ask(text))
    dataOf(await askVariable(text))
  })
  it.each(['1.5', '1e-1', '1e30', '12345678901234567890.5'])(
    'refuses %s in both forms, as Postgres does',
    async (text) => {
      const [literal, variable] = [messagesOf(await ask(text)), messagesOf(await askVariable(text))]
      expect(literal).toEqual(variable)
      expect(literal[0]).toMatch(/bigint/)
    },
  )
})

describe('Float', () => {
  it('stores the negative zero', async () => {
    await service.db.query('truncate amount')
    const insert = (id: number, f: string) =>
      `insertIntoamountCollection(objects: [{id: ${id}, f: ${f}}]) { affectedCount }`
    dataOf(await service.graphql(`mutation { ${insert(1, '-0.0')} }`))
    dataOf(await sent(`mutation ($f: Float) { ${insert(2, '$f')} }`, '{"f": -0.0}'))
    dataOf(await sent(`mutation ($f: Float) { ${insert(3, '$f')} }`, '{"f": -0}'))
    for (const id of [1, 2, 3]) expect(await stored('f', id)).toBe('-0')
  })
  it('refuses what a double does not hold, in a document and in a variable', async () => {
    const query = (f: string) => `{ amountCollection(filter: {f: {eq: ${f}}}) { edges { node { id } } } }`
    expect(messagesOf(await service.graphql(query('1e400')))).toEqual([
      'Float cannot represent non numeric value: 1e400',
    ])
    expect(messagesOf(await service.graphql(query('$f').replace('{', 'query ($f: Float = -1e400) {')))).toEqual([
      'Float cannot represent non numeric value: -1e400',
    ])
    expect(messagesOf(await sent(query('$f').replace('{', 'query ($f: Float) {'), '{"f": 1e400}'))[0]).toMatch(
      /Float cannot represent non numeric value/,
    )
  })
  it('and Int take numbers however they are written', async () => {
    const query =
      'query ($f: Float, $i: Int) { amountCollection(first: $i, filter: {f: {eq: $f}}) { edges { node { id } } } }'
    dataOf(await sent(query, '{"f": 1.50, "i": 1.0}'))
    dataOf(await sent(query, '{"f": 0.1234567890123456789, "i": 1e1}'))
  })
})

it('a number is not an object, list or text, however it is written', async () => {
  const query =
    'query ($o: amountFilter, $s: Opaque) { amountCollection(filter: $o, first: 1) { edges { node { id } } } told(a: $s) }'
  expect(messagesOf(await sent(query.replace(', $s: Opaque', '').replace('told(a: $s)', ''), '{"o": 1.50}'))[0]).toBe(
    'Variable "$o" got invalid value 1.50; Expected type "amountFilter" to be an object.',
  )
})
