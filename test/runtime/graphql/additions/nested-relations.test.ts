import { expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

/** `nestedWrites` over relations other than usual tables (spec/graphql.md 17.6). */

const schema = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true, "nestedWrites": {"enabled": true}})';
  create table orders (id bigint generated always as identity, day date not null, place text, primary key (id, day))
    partition by range (day);
  create table orders_new partition of orders for values from ('2026-01-01') to ('2027-01-01');
  create table items (
    id bigint generated always as identity primary key, order_id bigint, day date, label text,
    foreign key (order_id, day) references orders
  ) partition by hash (id);
  create table items_0 partition of items for values with (modulus 2, remainder 0);
  create table items_1 partition of items for values with (modulus 2, remainder 1);
  comment on table orders is '@graphql({"name": "Order"})';
  comment on table items is '@graphql({"name": "Item"})';

  create table writers (id int primary key, name text, hidden text default 'h');
  comment on table writers is '@graphql({"name": "Writer"})';
  create view people with (security_invoker) as select id, name from writers;
  comment on view people is '@graphql({"name": "Person", "primary_key_columns": ["id"]})';
  create table books (id int primary key, person_id int, title text);
  comment on table books is '@graphql({"name": "Book", "foreign_keys": [
    {"local_columns": ["person_id"], "foreign_schema": "public", "foreign_table": "people", "foreign_columns": ["id"]}]})';

  create table animals (id int primary key, name text);
  comment on table animals is '@graphql({"name": "Animal"})';
  create table dogs (tail text, primary key (id)) inherits (animals);
  comment on table dogs is '@graphql({"name": "Dog"})';
  create table collars (id int primary key, animal_id int references animals, dog_id int references dogs);
  comment on table collars is '@graphql({"name": "Collar"})';
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const written = async (field: string): Promise<unknown> => dataOf(await service.graphql(`mutation { x: ${field} }`)).x

it('a nested write reaches partitions, parents and children, with keys of two columns', async () => {
  const objects = [1, 2].map(
    (n) =>
      `{ day: "2026-0${n}-01", place: "p${n}", itemCollection: { insert: [{ label: "a${n}" }, { label: "b${n}" }] } }`,
  )
  const answer = await written(`insertIntoOrderCollection(objects: [${objects.join(', ')}]) {
    affectedCount records { place itemCollection(orderBy: [{ label: AscNullsLast }]) { edges { node { day label } } } } }`)
  const node = (n: number, label: string) => ({ node: { day: `2026-0${n}-01`, label } })
  expect(answer).toEqual({
    affectedCount: 6,
    records: [1, 2].map((n) => ({
      place: `p${n}`,
      itemCollection: { edges: [node(n, `a${n}`), node(n, `b${n}`)] },
    })),
  })
  const turned = `insertIntoItemCollection(objects: [
    { label: "c", order: { connect: { id: 1, day: "2026-01-01" } } }
    { label: "d", order: { insert: { day: "2026-03-01", place: "p3" } } }
  ]) { affectedCount records { label order { place } } }`
  expect(await written(turned)).toEqual({
    affectedCount: 3,
    records: [
      { label: 'c', order: { place: 'p1' } },
      { label: 'd', order: { place: 'p3' } },
    ],
  })
})

it('a nested write adds and finds rows through a view, which itself takes no related rows', async () => {
  const api = await introspect(service)
  expect(namesOf(api, 'BookInsertInput')).toEqual(['id', 'personId', 'title', 'person'])
  expect(namesOf(api, 'PersonInsertInput')).toEqual(['id', 'name'])
  const answer = await written(`insertIntoBookCollection(objects: [
    { id: 1, title: "A", person: { insert: { id: 1, name: "Ann" } } }
  ]) { affectedCount records { title person { name } } }`)
  expect(answer).toEqual({ affectedCount: 2, records: [{ title: 'A', person: { name: 'Ann' } }] })
  const more =
    await written(`insertIntoBookCollection(objects: [{ id: 2, title: "B", person: { connect: { id: 1 } } }]) {
    records { person { name } } }`)
  expect(more).toEqual({ records: [{ person: { name: 'Ann' } }] })
  expect((await service.db.query('select hidden from writers')).rows).toEqual([{ hidden: 'h' }])
})

it('a nested write takes related rows in a table that inherits, and none in one that others inherit from', async () => {
  const api = await introspect(service)
  expect(namesOf(api, 'AnimalInsertInput')).toEqual(['id', 'name'])
  expect(namesOf(api, 'DogInsertInput')).toEqual(['id', 'name', 'tail', 'collarCollection'])
  const answer = await written(`insertIntoCollarCollection(objects: [
    { id: 1, animal: { insert: { id: 1, name: "Cat" } }, dog: { insert: { id: 2, name: "Rex" } } }
  ]) { affectedCount records { animal { name } dog { name } } }`)
  expect(answer).toEqual({ affectedCount: 3, records: [{ animal: { name: 'Cat' }, dog: { name: 'Rex' } }] })
  const child =
    await written(`insertIntoDogCollection(objects: [{ id: 3, name: "Max", collarCollection: { insert: [{ id: 2 }] } }]) {
    affectedCount records { collarCollection { edges { node { id } } } } }`)
  expect(child).toEqual({ affectedCount: 2, records: [{ collarCollection: { edges: [{ node: { id: 2 } }] } }] })
})
