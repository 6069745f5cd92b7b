import { describe, expect, test } from 'vitest'
import { nothingKnown, wholeValues } from '../../../compiler/catalog/known.ts'
import { wholeQuery } from '../../../compiler/catalog/queries.ts'
import { createCatalogReader, type CatalogQuery } from '../../../compiler/catalog/read.ts'
import { openDatabase } from '../../../runtime/db/pool/pool.ts'
import { counterExpression, versionExpression } from '../../../runtime/db/check/version.ts'
import { createDatabase, majors } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

/**
 * How Postgres runs the catalogue query where there are many relations: it must do little for each of them, and nothing
 * where one of them changed.
 */

interface Node {
  readonly 'Node Type': string
  readonly 'Actual Loops': number
  readonly 'Actual Rows': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly Node[]
}

const tables = Array.from({ length: 300 }, (_, index) => `t${index}`)

const sql = tables
  .map((name, index) => `create table ${name} (id int primary key, up int references t${index >> 1})`)
  .join(';')

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const looksThroughList = (node: Node): boolean => `${node['Index Cond'] ?? ''} ${node.Filter ?? ''}`.includes('= ANY (')

/** Rows of catalogues that were read, by their names. */
function rowsRead(nodes: readonly Node[]): ReadonlyMap<string, number> {
  const read = new Map<string, number>()
  for (const node of nodes) {
    const name = node['Relation Name']
    const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    if (name !== undefined) read.set(name, (read.get(name) ?? 0) + rows)
  }
  return read
}

/** As where there are ten thousand tables: then nothing is cheaper than to look up what changed. */
const asOfMany = 'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off'

/** Catalogues that have rows about each table. */
const growing = ['class', 'attribute', 'type', 'constraint', 'depend', 'index', 'description', 'policy', 'trigger']

describe.each(majors().map((major) => [major] as const))('the plan of a first read on PostgreSQL %i', (major) => {
  const database = forSuite(createDatabase, { major, prepare: true, sql })

  test.each([
    ['before', 'left out'],
    ['before', 'made'],
    ['after', 'left out'],
    ['after', 'made'],
  ] as const)(
    'looks through lists of relations once, not once for each, %s analyze, hashes %s',
    async (when, hashes) => {
      if (when === 'after') await database.query('analyze')
      const text = wholeQuery(versionExpression, counterExpression, hashes)
      const values = [['public'], ...wholeValues(nothingKnown)]
      const { rows } = await database.query(`explain (analyze, format json) ${text}`, values)
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan as Node).filter(looksThroughList)
      expect(nodes.length).toBeGreaterThan(5)
      expect(nodes.filter((node) => node['Actual Loops'] > 1)).toEqual([])
    },
  )

  test.each([
    ['a comment', `comment on table t7 is 'text'`, 1],
    ['a column', 'alter table t7 add column more int', 1],
    ['a table', 'create table added (id int primary key, up int references t7)', 2],
  ])('after %s reads nothing of the other tables', async (_, change, statements) => {
    const asked: { text: string; values: readonly unknown[] }[] = []
    const query: CatalogQuery = (text, values, name) => {
      if (name !== undefined) asked.push({ text, values })
      return database.query(text, values)
    }
    const read = createCatalogReader(query, {
      schemas: ['public'],
      version: versionExpression,
      counter: counterExpression,
    })
    await read()
    await database.query(change)
    await read()
    expect(asked.length).toBe(statements)
    for (const { text, values } of asked) {
      await database.query(asOfMany)
      const { rows } = await database.query(`explain (analyze, format json) ${text}`, values)
      const found = rowsRead(nodesOf(rows[0]['QUERY PLAN'][0].Plan as Node))
      for (const name of growing) expect(found.get(`pg_${name}`) ?? 0, name).toBeLessThan(tables.length)
    }
  })

  test('that reads changes is made once', async () => {
    const served = openDatabase({ url: database.url, schemas: ['public'] })
    await served.session(async (query) => {
      const ask: CatalogQuery = (text, values, name) => query(text, values, name)
      const read = createCatalogReader(ask, {
        schemas: ['public'],
        version: versionExpression,
        counter: counterExpression,
      })
      await read()
      for (const text of ['one', 'two', 'three']) {
        await database.query(`comment on table t8 is '${text}'`)
        await read()
      }
      const { rows } = await query(`select generic_plans::int, custom_plans::int
        from pg_prepared_statements where name = 'catalograph.brief'`)
      expect(rows).toEqual([{ generic_plans: 3, custom_plans: 0 }])
    })
    await served.close()
  })
})
