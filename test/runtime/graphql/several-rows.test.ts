import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'
import { createTestService } from '../../support/service.ts'

/** Where a key does not keep a query from finding several rows, the first is taken. */
const sql = `
  comment on schema public is '@graphql({"introspection": true, "orderByRelated": {"enabled": true}})';
  create table city (id int primary key, name text);
  create table capital (state text) inherits (city);
  create table street (id int primary key, city_id int not null references city);
  create table mayor (id int primary key, city_id int not null unique references city);
  create table former_mayor () inherits (mayor);
  create table seal (id int primary key, street_id int unique deferrable initially deferred references street);
  create table country (id int primary key, name text);
  create table person (id int primary key, country_id int not null references country);
  create table tourist () inherits (person);
  insert into country values (1, 'Here');
  insert into person values (1, 1);
  insert into tourist values (2, 99);
  insert into city values (1, 'Ulm'), (2, 'Bonn');
  insert into capital values (1, 'Ulm', 'none');
  insert into street values (1, 1), (2, 2);
  insert into mayor values (1, 1);
  insert into former_mayor values (2, 1);
  insert into seal values (1, 1);
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

describe.each(lawMajors().map((major) => [major] as const))('several rows of a key on PostgreSQL %i', (major) => {
  const ask = async (query: string) => dataOf(await service.graphql(query))
  const service = forSuite(createTestService, { sql, major })

  it('are read by key and by node id', async () => {
    const { cityByPk } = await ask('{ cityByPk(id: 1) { nodeId name } }')
    expect(cityByPk.name).toBe('Ulm')
    expect(await ask(`{ node(nodeId: ${JSON.stringify(cityByPk.nodeId)}) { ... on city { name } } }`)).toEqual({
      node: { name: 'Ulm' },
    })
  })

  it('are read in a relation, in both directions', async () => {
    expect(await ask('{ streetByPk(id: 1) { city { name mayor { __typename } } } }')).toEqual({
      streetByPk: { city: { name: 'Ulm', mayor: { __typename: 'mayor' } } },
    })
  })

  it('an order by such a relation would repeat rows: there is none', async () => {
    expect(
      messagesOf(
        await service.graphql('{ streetCollection(orderBy: [{city: {name: AscNullsLast}}]) { edges { cursor } } }'),
      ),
    ).toEqual(['Field "city" is not defined by type "streetOrderBy".'])
  })

  it('nor do inherited rows refer to something for certain', async () => {
    const asked =
      '{ personCollection(orderBy: [{country: {name: AscNullsLast}}]) { edges { node { id country { id } } } } }'
    expect(await ask(asked)).toEqual({
      personCollection: { edges: [{ node: { id: 1, country: { id: 1 } } }, { node: { id: 2, country: null } }] },
    })
    const { __type } = await ask('{ __type(name: "person") { fields { name type { kind } } } }')
    expect(__type.fields).toContainEqual({ name: 'country', type: { kind: 'OBJECT' } })
  })

  it('a deferred key identifies rows as others do', async () => {
    const asked = '{ streetCollection(orderBy: [{seal: {id: DescNullsLast}}]) { edges { node { id seal { id } } } } }'
    expect(await ask(asked)).toEqual({
      streetCollection: { edges: [{ node: { id: 1, seal: { id: 1 } } }, { node: { id: 2, seal: null } }] },
    })
  })

  it('as soon as a table inherits', async () => {
    const names = '{ first: streetByPk(id: 1) { id } second: streetByPk(id: 2) { id } }'
    expect(await ask(names)).toEqual({ first: { id: 1 }, second: { id: 2 } })
    await service.db.query('create table lane () inherits (street); insert into lane values (1, 1)')
    expect(await ask(names)).toEqual({ first: { id: 1 }, second: { id: 2 } })
  })
})
