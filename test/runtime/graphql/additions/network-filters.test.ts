import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { rowsFound } from '../../../support/rows-found.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "networkFilters": {"enabled": true}})';
  create table host (id int primary key, address inet, network cidr);
  create index on host using gist (address inet_ops);
  create index on host using gist (network inet_ops);
  insert into host values
    (1, '10.1.2.3', '10.0.0.0/8'), (2, '10.1.2.3/16', '10.1.0.0/16'), (3, '::1', '2001:db8::/32'), (4, null, null),
    (5, '192.168.0.1/24', '0.0.0.0/0');
  insert into host select n, '172.16.0.0'::inet + n, set_masklen(('172.16.0.0'::inet + n)::cidr, 32)
    from generate_series(100, 20000) n;
  grant select on host to anon;
  analyze;
`

describe('networkFilters: answers', () => {
  const service = forSuite(createTestService, { sql })

  const found = rowsFound(() => service, 'hostCollection')

  it.each([
    ['{address: {containedBy: "10.0.0.0/8"}}', [1, 2]],
    ['{address: {containedByOrEq: "10.1.0.0/16"}}', [1, 2]],
    ['{address: {containedBy: "10.1.0.0/16"}}', [1]],
    ['{network: {contains: "10.1.2.3"}}', [1, 2, 5]],
    ['{network: {contains: "10.1.0.0/16"}}', [1, 5]],
    ['{network: {containsOrEq: "10.1.0.0/16"}}', [1, 2, 5]],
    ['{network: {overlaps: "10.1.5.0/24"}}', [1, 2, 5]],
    ['{network: {eq: "10.1.2.3/16"}}', []],
    ['{network: {eq: "10.1.0.0/16"}}', [2]],
    ['{address: {in: ["::1", "10.1.2.3"]}}', [1, 3]],
    ['{address: {gte: "192.0.0.0"}}', [3, 5]],
    ['{address: {family: 6}}', [3]],
    ['{address: {family: 5}}', []],
    ['{address: {is: NULL}}', [4]],
    ['{address: {containedBy: null}}', []],
    ['{not: {address: {containedBy: "10.0.0.0/8"}}}', [3, 5]],
  ])('%s finds %j', async (condition, ids) => {
    expect(await found(condition)).toEqual(ids)
  })

  it('refuse what is no network, with the code of the database', async () => {
    const answer = await service.graphql(
      '{ hostCollection(filter: {address: {contains: "10.0.0"}}) { edges { cursor } } }',
    )
    expect(messagesOf(answer)).toEqual(['invalid input syntax for type inet: "10.0.0"'])
  })

  it('are served by indexes', async () => {
    const settings = ['enable_seqscan = off', 'enable_indexscan = off']
    for (const [condition, index] of [
      ['{address: {containedBy: "172.16.2.0/24"}}', 'host_address_idx'],
      ['{network: {containsOrEq: "172.16.2.7"}}', 'host_network_idx'],
    ] as const) {
      dataOf(await service.graphql(`{ hostCollection(filter: ${condition}) { edges { node { id } } } }`))
      expect(await lastPlan(service, { settings })).toContain(index)
    }
  })
})
