import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "rangeFilters": {"enabled": true}})';
  create table slot (
    id int primary key, seats int4range, many int4multirange, big int8range, price numrange, days daterange, during tsrange,
    at tstzrange
  );
  create index on slot using gist (seats);
  create index on slot using gist (many);
  insert into slot values
    (1, '[1,5)', '{[1,3),[5,8)}', '[1,9007199254740993]', '[1.5,2.5]', '[2026-01-01,2026-01-31]',
      '[2026-01-01 10:00,2026-01-01 12:00)', '[2026-01-01 10:00+00,2026-01-01 12:00+00)'),
    (2, '[5,8)', '{[8,9)}', '(,)', '(2.5,)', '[2026-02-01,)', '(,2026-01-01 10:00)', 'empty'),
    (3, 'empty', '{}', 'empty', 'empty', 'empty', 'empty', null),
    (4, null, null, null, null, null, null, null),
    (5, '(,3)', '{(,0),[2,)}', '[5,6)', '[0,1)', '(,2025-12-31)', '(,)', '(,)');
  insert into slot (id, seats, many) select n, int4range(n, n + 1), int4multirange(int4range(n, n + 2))
    from generate_series(100, 20000) n;
  grant select on slot to anon;
  analyze;
`

describe('rangeFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  const found = rowsFound(() => service, 'slotCollection')

  it.each([
    ['{seats: {contains: "[2,3]"}}', [1]],
    ['{seats: {contains: "empty"}}', [1, 2, 3, 5]],
    ['{seats: {containsValue: 2}}', [1, 5]],
    ['{seats: {containsValue: 2147483647}}', []],
    ['{seats: {containedBy: "[0,10)"}}', [1, 2, 3]],
    ['{seats: {overlaps: "[4,6)"}}', [1, 2]],
    ['{seats: {adjacent: "[8,9)"}}', [2]],
    ['{seats: {adjacent: "[5,9)"}}', [1]],
    ['{seats: {strictlyLeft: "[5,9)"}}', [1, 5]],
    ['{seats: {strictlyRight: "(,5)"}}', [2]],
    ['{seats: {notRight: "[0,5)"}}', [1, 5]],
    ['{seats: {notLeft: "[1,2)"}}', [1, 2]],
    ['{seats: {isEmpty: true}}', [3]],
    ['{seats: {isEmpty: false}}', [1, 2, 5]],
    ['{seats: {eq: "[1,4]"}}', [1]],
    ['{seats: {in: ["[1,5)", "empty"]}}', [1, 3]],
    ['{seats: {neq: "empty"}}', [1, 2, 5]],
    ['{seats: {is: NULL}}', [4]],
    ['{seats: {overlaps: null}}', []],
    ['{not: {seats: {overlaps: "[4,6)"}}}', [3, 5]],
    ['{many: {contains: "{[1,2),[6,7)}"}}', [1]],
    ['{many: {containsValue: 8}}', [2, 5]],
    ['{many: {overlaps: "{[3,5),[8,9)}"}}', [2, 5]],
    ['{many: {adjacent: "{[8,10)}"}}', [1]],
    ['{many: {isEmpty: true}}', [3]],
    ['{big: {containsValue: "9007199254740993"}}', [1, 2]],
    ['{price: {containsValue: "2.5"}}', [1]],
    ['{days: {containsValue: "2026-01-31"}}', [1]],
    ['{during: {containsValue: "2026-01-01T09:00:00"}}', [2, 5]],
    ['{at: {containsValue: "2026-01-01T12:30:00+01:00"}}', [1, 5]],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('refuse what is no range, with the code of the database, and no value before it', async () => {
    const ask = (condition: string) => service.graphql(`{ slotCollection(filter: ${condition}) { edges { cursor } } }`)
    expect(messagesOf(await ask('{seats: {contains: "[5,1)"}}'))).toEqual([
      'range lower bound must be less than or equal to range upper bound',
    ])
    expect(messagesOf(await ask('{many: {contains: "[1,5)"}}'))).toEqual(['malformed multirange literal: "[1,5)"'])
    expect(messagesOf(await ask('{seats: {containsValue: "a"}}'))).toEqual([
      'Int cannot represent non-integer value: "a"',
    ])
  })

  it('are served by indexes', async () => {
    const settings = ['enable_seqscan = off']
    for (const [condition, index] of [
      ['{seats: {containsValue: 500}}', 'slot_seats_idx'],
      ['{seats: {overlaps: "[500,502)"}}', 'slot_seats_idx'],
      ['{many: {containsValue: 500}}', 'slot_many_idx'],
    ] as const) {
      dataOf(await service.graphql(`{ slotCollection(filter: ${condition}) { edges { node { id } } } }`))
      expect(await lastPlan(service, { settings })).toContain(index)
    }
  })
})
