import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"groups": {"enabled": true}})';
  create table reading (id int primary key, name text not null, x int, y numeric, z float8, flag boolean, at timestamptz,
    price money);
  insert into reading select n, name, value, value, value, value > 2, '2024-01-01Z'::timestamptz + value * interval '1 day', value::money
    from (values (1, 'a', 6), (2, 'b', null), (3, 'c', 2), (4, 'd', null), (5, 'e', 9)) as r (n, name, value);
  grant select on reading to anon;
`

interface Group {
  readonly key: { readonly name: string }
  readonly cursor: string
}

/** Figures that may be null of a group, each as a member of orderBy. */
const figures: Readonly<Record<string, (direction: string) => string>> = {
  ...Object.fromEntries(
    ['x', 'y', 'z'].map((field) => [
      `the percentile of ${field}`,
      (direction: string): string => `{ percentile: { at: 0.5, of: { ${field}: ${direction} } } }`,
    ]),
  ),
  ...Object.fromEntries(
    ['sum: { x', 'sum: { z', 'sum: { price', 'avg: { y', 'min: { at', 'max: { x', 'min: { price'].map((figure) => [
      figure.replace(': {', ' of'),
      (direction: string): string => `{ ${figure}: ${direction} } }`,
    ]),
  ),
}

describe('groups whose figure is null', () => {
  const service = forSuite(createTestService, { sql })

  const groups = async (args: string): Promise<readonly Group[]> =>
    dataOf(
      await service.graphql(
        `{ c: readingCollection { groups(by: [{ name: VALUE }], ${args}) { key { name } cursor } } }`,
      ),
    ).c.groups

  const pages = async (orderBy: string, after = ''): Promise<readonly string[]> => {
    const [group] = await groups(`${orderBy}, first: 1${after}`)
    return group === undefined ? [] : [group.key.name, ...(await pages(orderBy, `, after: "${group.cursor}"`))]
  }

  const expected = {
    AscNullsFirst: 'bdcae',
    AscNullsLast: 'caebd',
    DescNullsFirst: 'bdeac',
    DescNullsLast: 'eacbd',
  }

  it.each(Object.keys(figures))('stand where the direction says by %s, at once and page by page', async (figure) => {
    for (const [direction, names] of Object.entries(expected)) {
      const orderBy = `orderBy: [${figures[figure]?.(direction)}]`
      expect([direction, (await groups(orderBy)).map(({ key }) => key.name).join('')]).toEqual([direction, names])
      expect([direction, (await pages(orderBy)).join('')]).toEqual([direction, names])
    }
  })

  it('stand where the direction says as a later term of an order, too', async () => {
    const term = '{ percentile: { at: 0.5, of: { x: DescNullsLast } } }'
    expect(await pages(`orderBy: [{ count: AscNullsLast }, ${term}]`)).toEqual([...'eacbd'])
  })
})
