import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "distinctOn": {"enabled": true}})';
  create table event (id int primary key, kind text not null, at int not null, secret int, note text);
  comment on table event is '@graphql({"totalCount": {"enabled": true}})';
  insert into event select n, 'kind ' || n % 50, n, 0, null from generate_series(1, 20000) n;
  create index on event (kind, at desc, id);
  grant select (id, kind, at, note) on event to anon;
  analyze;
`

describe('distinctOn', () => {
  const service = forSuite(createTestService, { sql })

  it('is an argument of each connection, with the fields that the role may sort by', async () => {
    const schema = await introspect(service)
    expect(signatureOf(schema, 'Query', 'eventCollection')).toContain('distinctOn: [eventDistinctField!]')
    expect(namesOf(schema, 'eventDistinctField')).toEqual(['id', 'kind', 'at', 'note'])
  })

  it('needs no column but those that were granted', async () => {
    const query = '{ c: eventCollection(distinctOn: [kind, note], first: 1) { totalCount edges { node { id } } } }'
    expect(dataOf(await service.graphql(query)).c).toEqual({ totalCount: 50, edges: [{ node: { id: 1 } }] })
  })

  it('decides the statement by its values: another variable asks for other rows', async () => {
    const query = 'query Q($on: [eventDistinctField!]) { c: eventCollection(distinctOn: $on) { totalCount } }'
    const count = async (on: unknown) => dataOf(await service.graphql(query, { variables: { on } })).c.totalCount
    expect([
      await count(['kind']),
      await count(['note']),
      await count('id'),
      await count([]),
      await count(null),
    ]).toEqual([50, 1, 20_000, 20_000, 20_000])
  })

  it('takes a page from an index that has the order: the latest of each kind, and no more than it shows', async () => {
    const order = '[{ kind: AscNullsLast }, { at: DescNullsLast }]'
    const query = `{ c: eventCollection(distinctOn: [kind], orderBy: ${order}, first: 2) { edges { node { at } } } }`
    expect(dataOf(await service.graphql(query)).c.edges).toEqual([{ node: { at: 20_000 } }, { node: { at: 19_951 } }])
    const plan = await lastPlan(service, { analyze: true })
    expect(plan).toContain('"Index Name":"event_kind_at_id_idx"')
    expect(plan).not.toContain('"Node Type":"Seq Scan"')
    const rows = [...plan.matchAll(/"Actual Rows":(\d+)/g)].map(([, count]) => Number(count))
    expect(Math.max(...rows)).toBeLessThan(1_000)
  })
})
