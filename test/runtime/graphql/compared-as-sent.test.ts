import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** Values that are compared are held to no length, precision and scale (spec/graphql.md 3.4). */
const additions = ['groups', 'uniqueKeys', 'updates', 'arrayFilters', 'domains', 'distinctOn', 'functionShapes']
  .map((name) => `"${name}": {"enabled": true}`)
  .join(', ')
const sql = `
  comment on schema public is '@graphql({${additions}})';
  create domain short as varchar(3);
  create domain cents as numeric(8,2);
  create type priced as (amount numeric(8,2), code varchar(3));
  create table thing (
    id int primary key, v varchar(3), c char(3), n numeric(8,2), b bit(3), vb varbit(3), t time(0), ts timestamp(0),
    tz timestamptz(0), i interval(0), year interval year, s short, p cents, vs varchar(3)[], cs char(3)[], ns numeric(8,2)[], name name);
  insert into thing values (1, 'abc', 'ab', 1.01, '101', '10', '10:00:01', '2024-01-01 10:00:01', '2024-01-01 10:00:01Z',
    '1 second', '1 year', 'abc', 1.01, '{abc}', '{ab}', '{1.01}', repeat('x', 63)), (2, 'b', 'abc', 2, '000', '1', '11:00', '2025-01-01',
    '2025-01-01Z', '2 seconds', '2 years', 'b', 2, '{b}', '{abc}', '{2}', 'y');
  create table money (amount numeric(8,2) primary key, code varchar(3) unique, fixed char(3) unique, note text);
  insert into money values (1.01, 'abc', 'ab', 'one');
  grant all on all tables in schema public to anon;
  create function longer(a varchar(3), b numeric(8,2), c char(3)) returns text language sql stable as
    $$ select concat(a, '|', b, '|', c) $$;
`

describe('a value that is compared', () => {
  const service = forSuite(createTestService, { sql })

  const ask = async (query: string): Promise<any> => dataOf(await service.graphql(query))
  const found = async (filter: string): Promise<readonly number[]> =>
    (await ask(`{ c: thingCollection(filter: { ${filter} }) { edges { node { id } } } }`)).c.edges.map(
      ({ node }: { node: { id: number } }) => node.id,
    )

  it.each([
    ['v: { ilike: "%ABC%" }', [1]],
    ['v: { like: "%______%" }', []],
    ['v: { regex: "^abc$" }', [1]],
    ['v: { iregex: "^(ABC|bcd)$" }', [1]],
    ['v: { startsWith: "abcd" }', []],
    ['v: { eq: "abcd" }', []],
    ['v: { gt: "abcd" }', [2]],
    ['v: { in: ["abcd", "b"] }', [2]],
    ['s: { like: "%a%b%c%" }', [1]],
    ['s: { eq: "abcd" }', []],
    ['c: { like: "ab " }', [1]],
    ['c: { like: "ab" }', []],
    ['c: { ilike: "AB%" }', [1, 2]],
    ['c: { like: "%ab%c%" }', [2]],
    ['c: { regex: "^ab {1}$" }', [1]],
    ['c: { eq: "ab" }', [1]],
    ['c: { eq: "ab     " }', [1]],
    ['c: { eq: "abcd" }', []],
    ['c: { in: ["abcd", "ab"] }', [1]],
  ] as const)('is the text that was sent: %s', async (filter, ids) => {
    expect(await found(filter)).toEqual(ids)
  })

  it.each([
    ['n: { eq: "1.01" }', [1]],
    ['n: { eq: "1.012" }', []],
    ['n: { gt: "1.012" }', [2]],
    ['n: { lt: "1.005" }', []],
    ['n: { in: ["1.005", "1.014"] }', []],
    ['n: { lt: "123456789012345" }', [1, 2]],
    ['p: { eq: "1.012" }', []],
    ['b: { eq: "10100" }', []],
    ['vb: { eq: "1000" }', []],
    ['t: { eq: "10:00:01.2" }', []],
    ['t: { gt: "10:00:01.2" }', [2]],
    ['ts: { eq: "2024-01-01T10:00:01.2" }', []],
    ['tz: { lt: "2024-01-01T10:00:01.4Z" }', [1]],
    ['tz: { eq: "2024-01-01T10:00:01.4Z" }', []],
    ['i: { eq: "1.2 seconds" }', []],
    ['year: { eq: "1 year 2 months" }', []],
    ['year: { eq: "1 year" }', [1]],
  ] as const)('is neither rounded nor cut: %s', async (filter, ids) => {
    expect(await found(filter)).toEqual(ids)
  })

  it.each([
    ['vs: { contains: ["abcd"] }', []],
    ['vs: { some: { like: "%a%b%c%" } }', [1]],
    ['cs: { some: { like: "ab " } }', [1]],
    ['cs: { some: { eq: "abcd" } }', []],
    ['ns: { contains: ["1.012"] }', []],
    ['ns: { some: { gt: "1.012" } }', [2]],
  ] as const)('is so in lists, too: %s', async (filter, ids) => {
    expect(await found(filter)).toEqual(ids)
  })

  it('is so in groups, in keys of arguments and inputs, and in arguments of functions', async () => {
    const having = async (condition: string): Promise<number> =>
      (await ask(`{ c: thingCollection { groups(by: [{ id: VALUE }], having: { ${condition} }) { count } } }`)).c.groups
        .length
    expect(await having('max: { v: { like: "%a%b%c%" } }')).toBe(1)
    expect(await having('min: { n: { eq: "1.012" } }')).toBe(0)
    expect(
      await ask(`{
        pk: moneyByPk(amount: "1.012") { note } right: moneyByPk(amount: "1.010") { note }
        code: moneyByCode(code: "abcd") { note } fixed: moneyByFixed(fixed: "ab    ") { note }
      }`),
    ).toEqual({ pk: null, right: { note: 'one' }, code: null, fixed: { note: 'one' } })
    expect(
      await ask(`mutation {
        one: updatemoneyByPk(amount: "1.012", set: { note: "x" }) { note }
        rows: updatemoneyRows(rows: [{ amount: "1.012", set: { note: "x" } }]) { affectedCount }
        all: deleteFrommoneyCollection(filter: { amount: { eq: "1.012" } }) { affectedCount }
      }`),
    ).toEqual({ one: null, rows: { affectedCount: 0 }, all: { affectedCount: 0 } })
    expect(await ask('{ longer(a: "abcd", b: "1.012", c: "abcd") }')).toEqual({ longer: 'abcd|1.012|abcd' })
  })

  it('is rounded as before where it is written, and refused where it is too long', async () => {
    expect(
      await ask(
        'mutation { c: updatethingCollection(set: { n: "2.005", t: "10:00:01.6", ns: ["1.005"], p: "3.005" }, filter: { id: { eq: 2 } }) { records { n t ns p } } }',
      ),
    ).toEqual({ c: { records: [{ n: '2.01', t: '10:00:02', ns: ['1.01'], p: '3.01' }] } })
    const { errors } = await service.graphql(
      'mutation { updatethingCollection(set: { v: "abcd" }, filter: { id: { eq: 2 } }) { affectedCount } }',
    )
    expect(errors?.map(({ message }) => message)).toEqual(['Invalid input for String type. Maximum character length 3'])
  })
})
