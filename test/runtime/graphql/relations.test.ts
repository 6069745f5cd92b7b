import type { GraphQLSchema } from 'graphql'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { fieldsOf, introspect, namesOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  create schema elsewhere;
  create table owner (id int primary key, name text, code text unique, region int, number int, unique (region, number));
  create table pet (
    id int primary key, owner_id int not null references owner, name text, vet_id int, kennel text constraint kennel references owner (code)
  );
  comment on constraint kennel on pet is '@graphql({"foreign_name": "kennelOwner", "local_name": "boarders"})';
  comment on table pet is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "max_rows": 2})';
  create table chip (id int primary key, pet_id int unique references pet, region int, number int,
    constraint chip_owner foreign key (region, number) references owner (region, number));
  create table half (id int primary key, region int not null, number int,
    constraint half_owner foreign key (region, number) references owner (region, number));
  create table part (region int, number int, extra int, primary key (region),
    constraint part_owner foreign key (region, number) references owner (region, number));
  create table orphan (id int primary key, owner_id int not null);
  insert into orphan values (1, 404);
  alter table orphan add constraint orphan_owner foreign key (owner_id) references owner not valid;
  create table person (id int primary key, parent_id int references person, name text);
  create table secured (id int primary key, body text);
  alter table secured enable row level security;
  create policy visible on secured using (id < 10);
  create table secured_child (id int primary key, secured_id int not null references secured);
  create table open_parent (id int primary key);
  create table secured_local (id int primary key, open_parent_id int not null references open_parent);
  alter table secured_local enable row level security;
  create policy everything on secured_local using (true);
  create table partial_child (id int primary key, owner_id int references owner, active bool);
  create unique index on partial_child (owner_id) where active;
  create table expression_child (id int primary key, owner_id int references owner, email text);
  create unique index on expression_child (lower(email));
  create unique index on expression_child (owner_id, (id + 1));
  create table including_child (id int primary key, owner_id int references owner, note text);
  create unique index on including_child (owner_id) include (note);
  create table nearly_child (id int primary key, owner_id int references owner, note text, unique (owner_id, note));
  create table elsewhere.hidden (id int primary key);
  create table seeker (id int primary key, hidden_id int references elsewhere.hidden);
  create table elsewhere.child (id int primary key, owner_id int references owner);
  create table keyless_parent (code int unique);
  create table keyless_child (owner_id int references owner, code int references keyless_parent (code));

  create view owner_view as select id, name from owner;
  comment on view owner_view is '@graphql({"primary_key_columns": ["id"]})';
  create view pet_view as select id, owner_id, name from pet;
  comment on view pet_view is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [
    {"local_columns": ["owner_id"], "foreign_schema": "public", "foreign_table": "owner", "foreign_columns": ["id"]},
    {"local_name": "petsOfView", "foreign_name": "ownerOfView", "local_columns": ["owner_id"], "foreign_schema": "public", "foreign_table": "owner_view", "foreign_columns": ["id"]},
    {"local_columns": ["owner_id"], "foreign_schema": "public", "foreign_table": "nothing", "foreign_columns": ["id"]},
    {"local_columns": ["owner_id"], "foreign_schema": "public", "foreign_table": "owner", "foreign_columns": ["nothing"]}
  ]})';
  comment on table chip is '@graphql({"foreign_keys": [
    {"local_name": "chipByView", "foreign_name": "petByView", "local_columns": ["pet_id"], "foreign_schema": "public", "foreign_table": "pet_view", "foreign_columns": ["id"]}
  ]})';
  comment on table secured_local is '@graphql({"foreign_keys": [
    {"local_name": "byComment", "foreign_name": "declared", "local_columns": ["open_parent_id"], "foreign_schema": "public", "foreign_table": "open_parent", "foreign_columns": ["id"]}
  ]})';
  comment on table secured_child is '@graphql({"foreign_keys": [
    {"local_name": "byComment", "foreign_name": "declared", "local_columns": ["secured_id"], "foreign_schema": "public", "foreign_table": "secured", "foreign_columns": ["id"]},
    {"local_name": "byBody", "foreign_name": "anyOwner", "local_columns": ["secured_id"], "foreign_schema": "public", "foreign_table": "owner", "foreign_columns": ["region"]}
  ]})';

  create table visit (id int, place int, pet_id int references pet, primary key (id, place)) partition by list (place);
  create table visit_one partition of visit for values in (1);
  create table visit_two partition of visit for values in (2);
  create table bill (id int primary key, visit_id int not null, place int not null, foreign key (visit_id, place) references visit);

  insert into owner values (1, 'Ann', 'a', 1, 10), (2, 'Bob', 'b', 1, 20), (3, 'Cem', null, null, null);
  insert into pet values (10, 1, 'Rex', null, 'b'), (11, 1, 'Tom', null, null), (12, 1, 'Zoe', null, null), (20, 2, 'Ace', null, null);
  insert into chip values (100, 10, 1, 10), (101, null, 1, null), (102, 11, null, null);
  insert into half values (1, 1, null), (2, 1, 20);
  insert into part values (1, 10, 5);
  insert into person values (1, null, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 2, 'leaf');
  insert into secured values (1, 'seen'), (10, 'unseen');
  insert into secured_child values (1, 1), (2, 10);
  insert into partial_child values (1, 1, false), (2, 1, false);
  insert into including_child values (1, 2, 'x');
  insert into nearly_child values (1, 1, 'x'), (2, 1, 'y');
  insert into visit values (1, 1, 10), (2, 2, 10);
  insert into bill values (1, 1, 1), (2, 2, 2);
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
  grant usage on schema public to authenticated;
  grant select (id, name) on pet to authenticated;
  grant select on owner, person to authenticated;
  grant select (id) on chip to authenticated;
`

let schema: GraphQLSchema
const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))

const service = forSuite(createTestService, { sql })
beforeAll(async () => {
  schema = await introspect(service)
})

const relationsOf = (type: string): readonly string[] =>
  fieldsOf(schema, type).filter((field) => /: (?!ID|Int|String|Boolean)/.test(field))

describe('8.1 relations', () => {
  it('are both directions of every foreign key between exposed tables', () => {
    expect(relationsOf('Pet')).toEqual([
      'owner: Owner!',
      'kennelOwner: Owner',
      'chip: Chip',
      'visitCollection: VisitConnection',
      'visitOneCollection: VisitOneConnection',
      'visitTwoCollection: VisitTwoConnection',
    ])
    expect(relationsOf('Owner').slice(0, 4)).toEqual([
      'petCollection: PetConnection',
      'boarders: PetConnection',
      'chipCollection: ChipConnection',
      'halfCollection: HalfConnection',
    ])
  })
  it('do not lead to unserved schemas or tables without a key, in either direction', () => {
    expect(relationsOf('Seeker')).toEqual([])
    expect(namesOf(schema, 'Owner')).not.toContain('childCollection')
    expect(namesOf(schema, 'Owner')).not.toContain('keylessChildCollection')
    expect(schema.getType('KeylessChild')).toBeUndefined()
  })
  it('needs the columns of both sides', async () => {
    const seen = await introspect(service, { role: 'authenticated' })
    expect(fieldsOf(seen, 'Pet')).toEqual(['nodeId: ID!', 'id: Int!', 'name: String'])
    expect(namesOf(seen, 'Owner')).not.toContain('petCollection')
    expect(fieldsOf(seen, 'Chip')).toEqual(['nodeId: ID!', 'id: Int!'])
    expect(fieldsOf(seen, 'Person')).toContain('parent: Person')
  })
  it('of views is asked in both directions', async () => {
    const data = await ask(`{
      petViewByPk(id: 10) { owner { name } ownerOfView { name petsOfView { edges { node { id } } } } chipByView { id } }
      ownerByPk(id: 2) { petViewCollection { edges { node { name } } } }
      chipByPk(id: 100) { petByView { name } }
    }`)
    expect(data).toEqual({
      petViewByPk: {
        owner: { name: 'Ann' },
        ownerOfView: {
          name: 'Ann',
          petsOfView: { edges: [{ node: { id: 10 } }, { node: { id: 11 } }, { node: { id: 12 } }] },
        },
        chipByView: { id: 100 },
      },
      ownerByPk: { petViewCollection: { edges: [{ node: { name: 'Ace' } }] } },
      chipByPk: { petByView: { name: 'Rex' } },
    })
  })
})

describe('8.2 forward', () => {
  it('joins by one column, by columns other than a primary key, and by all columns of a composite key', async () => {
    const data = await ask(
      '{ petByPk(id: 10) { owner { name } kennelOwner { name } } chipCollection { edges { node { id owner { name } } } } }',
    )
    expect(data.petByPk).toEqual({ owner: { name: 'Ann' }, kennelOwner: { name: 'Bob' } })
    expect(data.chipCollection.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { id: 100, owner: { name: 'Ann' } },
      { id: 101, owner: null },
      { id: 102, owner: null },
    ])
  })
})

describe('8.3 reverse', () => {
  const shapes = [
    ['a unique column', 'Pet', 'chip: Chip'],
    ['a primary key that is a subset of the columns', 'Owner', 'part: Part'],
    ['a unique index with INCLUDE', 'Owner', 'includingChild: IncludingChild'],
    ['a partial unique index: many', 'Owner', 'partialChildCollection: PartialChildConnection'],
    ['unique indexes over expressions: many', 'Owner', 'expressionChildCollection: ExpressionChildConnection'],
    ['a unique key over more columns: many', 'Owner', 'nearlyChildCollection: NearlyChildConnection'],
  ] as const
  test.each(shapes)('has a name by the rule: %s', (_, type, field) => {
    expect(fieldsOf(schema, type)).toContain(field)
  })
})

describe('8.4 nullability', () => {
  it('forward is NonNull when all columns are NOT NULL and the parent has no row-level security', () => {
    expect(fieldsOf(schema, 'Half')).toContain('owner: Owner')
    expect(fieldsOf(schema, 'Pet')).toContain('owner: Owner!')
    expect(fieldsOf(schema, 'Chip')).toContain('owner: Owner')
    expect(fieldsOf(schema, 'SecuredChild')).toContain('secured: Secured')
    expect(fieldsOf(schema, 'SecuredLocal')).toContain('openParent: OpenParent!')
  })
  it('a key that is not validated promises nothing: the row may lack its parent', async () => {
    expect(fieldsOf(schema, 'Orphan')).toContain('owner: Owner')
    const { orphanCollection } = await ask('{ orphanCollection { edges { node { id owner { id } } } } }')
    expect(orphanCollection.edges).toEqual([{ node: { id: 1, owner: null } }])
    await service.db.query('delete from orphan; alter table orphan validate constraint orphan_owner')
    expect(fieldsOf(await introspect(service), 'Orphan')).toContain('owner: Owner!')
  })
  it('declared by comment is nullable, since nothing holds the rows to it', async () => {
    expect(fieldsOf(schema, 'SecuredLocal')).toContain('declared: OpenParent')
    expect(fieldsOf(schema, 'SecuredChild')).toContain('declared: Secured')
    const { securedChildCollection } = await ask('{ securedChildCollection { edges { node { declared { body } } } } }')
    expect(securedChildCollection.edges).toEqual([
      { node: { declared: { body: 'seen' } } },
      { node: { declared: null } },
    ])
  })
  it('does not limit a declared key, which takes the first of several rows', async () => {
    const { securedChildByPk } = await ask('{ securedChildByPk(id: 1) { anyOwner { region } } }')
    expect(securedChildByPk).toEqual({ anyOwner: { region: 1 } })
  })
})

describe('8.7 views', () => {
  it('declare keys to and from, skip what does not exist, and are many without a unique index', () => {
    expect(relationsOf('PetView')).toEqual(['owner: Owner', 'ownerOfView: OwnerView', 'chipByView: Chip'])
    expect(relationsOf('OwnerView')).toEqual(['petsOfView: PetViewConnection'])
    expect(fieldsOf(schema, 'Owner')).toContain('petViewCollection: PetViewConnection')
    expect(fieldsOf(schema, 'Chip')).toContain('petByView: PetView')
  })
})

describe('1.2 partitioned tables', () => {
  it('are tables, and their partitions types beside them', async () => {
    expect(namesOf(schema, 'Query')).toEqual(
      expect.arrayContaining(['visitCollection', 'visitByPk', 'visitOneCollection', 'visitTwoByPk']),
    )
    const { visitCollection, visitTwoCollection } = await ask(
      '{ visitCollection { edges { node { id pet { name } } } } visitTwoCollection { edges { node { id } } } }',
    )
    expect(visitCollection.edges).toEqual([
      { node: { id: 1, pet: { name: 'Rex' } } },
      { node: { id: 2, pet: { name: 'Rex' } } },
    ])
    expect(visitTwoCollection.edges).toEqual([{ node: { id: 2 } }])
  })
  it('are led to as a whole by foreign keys', async () => {
    const { billCollection } = await ask('{ billCollection { edges { node { id visit { id place } } } } }')
    expect(billCollection.edges).toEqual([
      { node: { id: 1, visit: { id: 1, place: 1 } } },
      { node: { id: 2, visit: { id: 2, place: 2 } } },
    ])
    expect(fieldsOf(schema, 'Bill')).toContain('visit: Visit!')
    const { petByPk } = await ask(
      '{ petByPk(id: 10) { visitCollection { edges { node { id } } } visitOneCollection { edges { node { id } } } } }',
    )
    expect(petByPk).toEqual({
      visitCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] },
      visitOneCollection: { edges: [{ node: { id: 1 } }] },
    })
  })
})
