import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { readCatalog } from '../../../../../compiler/catalog/read.ts'
import type { Catalog } from '../../../../../compiler/catalog/catalog.ts'
import { importHasura, readFacts, type Facts } from '../../../../../compiler/commands/import/hasura/hasura.ts'
import { withSession } from '../../../../../runtime/db/connect/session.ts'
import { createDatabase } from '../../../../support/database.ts'
import { forSuite } from '../../../../support/for-suite.ts'
import { sized } from '../../../../support/whole.ts'
import { truthOf, type Row, type Rows } from './hasura-rows.ts'

const sql = `
  create table item (id int primary key, n int, m int, t text, b boolean, j jsonb, a int[], parent_id int references item);
  create table kid (id int primary key, item_id int references item, n int, t text);`
const db = forSuite(createDatabase, { sql, prepare: true })
let catalog: Catalog
let facts: Facts
beforeAll(async () => {
  await withSession({ url: db.ownerUrl }, async (query) => {
    catalog = await readCatalog(query, { schemas: ['public'], version: null })
    facts = await readFacts(query, ['public'])
  })
})

const session = { 'x-hasura-n': '2', 'x-hasura-t': 'ab', 'x-hasura-ns': '{1,3}' }

const numbers = fc.integer({ min: 0, max: 4 })
const texts = fc.constantFrom('', 'a', 'ab', 'B', 'b%', "it's")
const orNull = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { freq: 3 })
const documents = fc.oneof(fc.record({ k: numbers, x: texts }, { requiredKeys: [] }), fc.array(texts, { maxLength: 2 }))

const rowsOf = (ids: readonly number[], members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Row[]> =>
  fc.tuple(...ids.map((id) => fc.record({ id: fc.constant(id), ...members })))

const ids = [0, 1, 2, 3, 4, 5]
const drawnRows = fc.record({
  item: rowsOf(ids, {
    n: orNull(numbers),
    m: orNull(numbers),
    t: orNull(texts),
    b: orNull(fc.boolean()),
    j: orNull(documents),
    a: orNull(fc.array(numbers, { maxLength: 3 })),
    parent_id: orNull(fc.constantFrom(...ids)),
  }),
  kid: rowsOf(ids, { item_id: orNull(fc.constantFrom(...ids)), n: orNull(numbers), t: orNull(texts) }),
})

const operators = (...entries: readonly (readonly [string, fc.Arbitrary<unknown>])[]): fc.Arbitrary<Row> =>
  fc.oneof(...entries.map(([name, operand]) => operand.map((value) => ({ [name]: value }))))

const both = (
  names: readonly string[],
  operand: fc.Arbitrary<unknown>,
): readonly (readonly [string, fc.Arbitrary<unknown>])[] => names.map((name) => [name, operand] as const)

const isNull = ['_is_null', fc.boolean()] as const
const comparisons = ['_eq', '_neq', '_gt', '_lt', '_gte', '_lte']
const lists = ['_in', '_nin']
const patterns = [
  '_like',
  '_nlike',
  '_ilike',
  '_nilike',
  '_similar',
  '_nsimilar',
  '_regex',
  '_iregex',
  '_nregex',
  '_niregex',
]

const onNumber = operators(
  isNull,
  ...both(comparisons, fc.oneof(numbers, fc.constant('X-Hasura-N'))),
  ...both(lists, fc.array(orNull(numbers), { maxLength: 3 })),
)
const onText = operators(
  isNull,
  ...both(['_eq', '_neq'], fc.oneof(texts, fc.constant('X-Hasura-T'))),
  ...both(lists, fc.array(texts, { maxLength: 3 })),
  ...both(patterns.slice(0, 4), fc.constantFrom('a%', '_b', '%', "it's", 'X-Hasura-T')),
  ...both(patterns.slice(4, 6), fc.constantFrom('(a|B)b?', 'a%'.slice(0, 1))),
  ...both(patterns.slice(6), fc.constantFrom('^a', 'b', '[aB]$')),
)
const onJson = operators(
  isNull,
  ...both(['_contains', '_contained_in'], documents),
  ['_has_key', fc.constantFrom('k', 'x', 'a')],
  ...both(['_has_keys_any', '_has_keys_all'], fc.subarray(['k', 'x', 'a'])),
)
const onArray = operators(isNull, ...both(['_contains', '_contained_in'], fc.array(numbers, { maxLength: 2 })))
const otherColumn = ['_ceq', '_cneq', '_cgt', '_clt', '_cgte', '_clte']

const under = (name: string, operand: fc.Arbitrary<unknown>): fc.Arbitrary<Row> =>
  operand.map((value) => ({ [name]: value }))

const { item: condition } = fc.letrec<{ item: Row; kid: Row }>((tie) => {
  const logic = (own: fc.Arbitrary<Row>): fc.Arbitrary<Row> =>
    fc.oneof(
      under('_and', fc.array(own, { maxLength: 3 })),
      under('_or', fc.array(own, { maxLength: 3 })),
      under('_not', own),
    )
  const kidLeaves = fc.oneof(
    under('n', onNumber),
    under('t', onText),
    under('n', operators(...both(otherColumn, fc.constantFrom('id', ['$', 'm'], ['$', 'n'])))),
    fc.constant({}),
  )
  const itemLeaves = fc.oneof(
    under('n', onNumber),
    under(
      'm',
      fc.tuple(onNumber, onNumber).map(([one, other]) => ({ ...one, ...other })),
    ),
    under('t', onText),
    under('b', operators(isNull, ...both(['_eq', '_neq'], fc.boolean()))),
    under('j', onJson),
    under('a', onArray),
    under('n', operators(['_in', fc.constant('X-Hasura-Ns')], ['_nin', fc.constant('X-Hasura-Ns')])),
    under('n', operators(...both(otherColumn, fc.constantFrom('m', ['m'], ['$', 'm'])))),
  )
  const item = tie('item')
  const kid = tie('kid')
  return {
    item: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      itemLeaves,
      logic(item),
      under('kids', kid),
      under('parent', item),
      fc.tuple(item, itemLeaves).map(([one, other]) => ({ ...one, ...other })),
      under(
        '_exists',
        kid.map((where) => ({ _table: { schema: 'public', name: 'kid' }, _where: where })),
      ),
    ),
    kid: fc.oneof({ maxDepth: 4, withCrossShrink: true }, kidLeaves, logic(kid), under('item', item)),
  }
})

const related: Readonly<Record<string, Rows['tables'][string]['related']>> = {
  item: { kids: { table: 'kid', pairs: [['id', 'item_id']] }, parent: { table: 'item', pairs: [['parent_id', 'id']] } },
  kid: { item: { table: 'item', pairs: [['item_id', 'id']] } },
}

const relationships = {
  item: {
    object_relationships: [{ name: 'parent', using: { foreign_key_constraint_on: 'parent_id' } }],
    array_relationships: [{ name: 'kids', using: { foreign_key_constraint_on: { table: 'kid', column: 'item_id' } } }],
  },
  kid: { object_relationships: [{ name: 'item', using: { foreign_key_constraint_on: 'item_id' } }] },
}

/** Statements for the role anon; the kids are readable, in part or not at all. */
const imported = (filter: Row, kids: Row | null) => {
  const select = (columns: '*' | readonly string[], where: Row) => [
    { role: 'anon', permission: { columns, filter: where } },
  ]
  const tables = [
    { table: 'item', ...relationships.item, select_permissions: select('*', filter) },
    { table: 'kid', ...relationships.kid, select_permissions: kids === null ? [] : select('*', kids) },
  ]
  const metadata = { source: { name: 'default', tables, functions: [], inflects: false }, others: [], rest: {} }
  return importHasura({ metadata, catalog, facts, roleOf: (role) => role, login: 'authenticator' })
}

it('law: a policy selects the rows that its condition means', async () => {
  const reach = fc.constantFrom<(Row | null)[]>(null, {}, { n: { _gt: 1 } })
  await fc.assert(
    fc.asyncProperty(drawnRows, condition, reach, async (rows, filter, kids) => {
      const { statements, left } = imported(filter, kids)
      expect(left.filter((line) => line.startsWith('permission'))).toEqual([])
      await db.query('begin')
      try {
        for (const [name, all] of Object.entries(rows))
          await db.query(`insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1)`, [
            JSON.stringify(all),
          ])
        await db.query(statements.map((one) => `${one.sql};`).join('\n'))
        await db.query(`grant anon to current_user; set local role anon`)
        await db.query(`select set_config('request.jwt.claims', $1, true)`, [JSON.stringify({ app_metadata: session })])
        const found = await db.query('select id from item order by id')
        const tables = Object.fromEntries(
          Object.entries(rows).map(([name, all]) => [name, { rows: all, related: related[name] ?? {} }]),
        )
        const meant = rows.item.filter((row) => truthOf(filter, row, 'item', { tables, session }) === true)
        expect(found.rows.map(({ id }) => id as number)).toEqual(meant.map(({ id }) => id))
      } finally {
        await db.query('rollback')
      }
    }),
    { numRuns: sized(1_000, 80) },
  )
}, 240_000)
