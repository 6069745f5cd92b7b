import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nothingKnown, wholeValues } from '../../../compiler/catalog/known.ts'
import { wholeQuery } from '../../../compiler/catalog/queries.ts'
import { counterExpression, versionExpression } from '../../../runtime/db/check/version.ts'
import { createDatabase, majors, type TestDatabase } from '../../support/database.ts'

/** How Postgres runs the catalogue query where there are many relations: what it does for each of them has to be little. */

interface Node {
  readonly 'Node Type': string
  readonly 'Actual Loops': number
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly Plans?: readonly Node[]
}

const tables = 300

const sql = Array.from(
  { length: tables },
  (_, index) => `create table t${index} (id int primary key, up int references t${index >> 1})`,
).join(';')

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const looksThroughList = (node: Node): boolean => `${node['Index Cond'] ?? ''} ${node.Filter ?? ''}`.includes('= ANY (')

describe.each(majors().map((major) => [major] as const))('the plan of a first read on PostgreSQL %i', (major) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase({ major, prepare: true, sql })
  })
  afterAll(() => database.drop())

  test.each([['before'], ['after']])(
    'looks through lists of relations once, not once for each, %s analyze',
    async (when) => {
      if (when === 'after') await database.query('analyze')
      const text = wholeQuery(versionExpression, counterExpression)
      const values = [['public'], ...wholeValues(nothingKnown)]
      const { rows } = await database.query(`explain (analyze, format json) ${text}`, values)
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan as Node).filter(looksThroughList)
      expect(nodes.length).toBeGreaterThan(5)
      expect(nodes.filter((node) => node['Actual Loops'] > 1)).toEqual([])
    },
  )
})
