import { beforeEach, describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const schema = `
  comment on schema public is '@graphql({"inflect_names": true, "nestedWrites": {"enabled": true}, "upsert": {"enabled": true}})';
  create function me() returns text language sql as $$ select nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' $$;
  create table kind (id int primary key, name varchar(8) unique);
  create table shop (
    id bigint generated always as identity primary key, owner text not null default me(), name text not null check (name <> ''),
    token uuid default gen_random_uuid(), kind_id int references kind
  );
  create table item (
    id serial primary key, shop_id bigint not null references shop, owner text default me(), label varchar(8) not null unique,
    since timestamptz default now()
  );
  create table note (id int generated always as identity primary key, item_id int references item, text text);
  alter table shop enable row level security;
  alter table item enable row level security;
  create policy own on shop using (owner = (select me()));
  create function mine(text) returns bool language sql stable return $1 = nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub';
  create policy own on item using (mine(owner));
  insert into kind values (1, 'food'), (2, 'books');
  create sequence beeps;
  create function beep() returns bigint language sql as $$ select nextval('beeps') $$;
  create schema rules;
  create function rules.count() returns bigint language sql stable security definer as $$ select count(*) from public.shop $$;
  grant usage on schema rules to anon;
  grant all on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`

describe('an insert with related rows in one statement', () => {
  const service = forSuite(createTestService, { sql: schema })
  beforeEach(async () => void (await service.db.query('truncate shop, item, note restart identity')))

  const fields = 'affectedCount records { id name owner kindId }'
  const ask = (objects: unknown, selected = fields) =>
    service.graphql(`mutation($o: [ShopInsertInput!]!) { x: insertIntoShopCollection(objects: $o) { ${selected} } }`, {
      variables: { o: objects },
      claims: { sub: 'ann' },
    })
  const sent = (): number => service.exchanges.at(-1)?.statements.length ?? 0
  const rowsOf = async (text: string): Promise<readonly unknown[]> => (await service.db.query(text)).rows
  const labels = 'select i.label, s.name from item i join shop s on s.id = i.shop_id order by i.id'

  const item = (label: string, more: object = {}) => ({ label, ...more })
  const tree = {
    name: 'a',
    kind: { connect: { name: 'books' } },
    itemCollection: { insert: [item('x', { noteCollection: { insert: [{ text: 'n' }] } }), item('y')] },
  }

  it('reads what it answers from what was returned, whatever the number of rows', async () => {
    expect(dataOf(await ask([tree])).x).toEqual({
      affectedCount: 4,
      records: [{ id: '1', name: 'a', owner: 'ann', kindId: 2 }],
    })
    expect(sent()).toBe(1)
    expect(await rowsOf(labels)).toEqual([
      { label: 'x', name: 'a' },
      { label: 'y', name: 'a' },
    ])
    expect(await rowsOf('select n.text, i.label from note n join item i on i.id = n.item_id')).toEqual([
      { text: 'n', label: 'x' },
    ])
    const many = Array.from({ length: 300 }, (_, place) => ({
      name: `s${place}`,
      itemCollection: { insert: [item(`a${place}`), item(`b${place}`)] },
    }))
    const answer = dataOf(await ask(many)).x
    expect([answer.affectedCount, sent()]).toEqual([900, 1])
    expect(answer.records.map(({ name }: { name: string }) => name)).toEqual(many.map(({ name }) => name))
    const wrong = 'select from item i join shop s on s.id = i.shop_id where substr(s.name, 2) <> substr(i.label, 2)'
    expect(await rowsOf(`${wrong} and s.name <> 'a'`)).toEqual([])
  })

  it('finds parents of either kind for the rows of one place', async () => {
    const document = `mutation($o: [ItemInsertInput!]!) { x: insertIntoItemCollection(objects: $o) { records { label shopId } } }`
    await ask([{ name: 'there' }])
    const shops = [{ insert: { name: 'new' } }, { connect: { id: '1' } }, { insert: { name: 'newer' } }]
    const objects = shops.map((shop, place) => ({ label: `l${place}`, shop }))
    const run = () => service.graphql(document, { variables: { o: objects }, claims: { sub: 'ann' } })
    expect(dataOf(await run()).x.records).toEqual([
      { label: 'l0', shopId: '2' },
      { label: 'l1', shopId: '1' },
      { label: 'l2', shopId: '3' },
    ])
    // A shop that is inserted might be the one to connect.
    expect(sent()).toBe(4)
  })

  it('runs nothing twice that reaches beyond the transaction', async () => {
    const fails = [{ name: 'a', itemCollection: { insert: [item('x'), item('x')] } }]
    const both = 'mutation($o: [ShopInsertInput!]!) { beep x: insertIntoShopCollection(objects: $o) { affectedCount } }'
    const answer = await service.graphql(both, { variables: { o: fails }, claims: { sub: 'ann' } })
    expect(answer.errors?.[0]?.path).toEqual(['x'])
    expect(await rowsOf('select last_value::int from beeps')).toEqual([{ last_value: 1 }])
    expect(dataOf(await service.graphql(both, { variables: { o: [tree] }, claims: { sub: 'ann' } }))).toEqual({
      beep: '2',
      x: { affectedCount: 4 },
    })
  })

  it('reads relations of the rows by a second statement', async () => {
    const selected =
      'records { name kind { name } itemCollection(orderBy: [{ id: AscNullsLast }]) { edges { node { label } } } }'
    expect(dataOf(await ask([tree], selected)).x).toEqual({
      records: [
        {
          name: 'a',
          kind: { name: 'books' },
          itemCollection: { edges: [{ node: { label: 'x' } }, { node: { label: 'y' } }] },
        },
      ],
    })
    expect(sent()).toBe(2)
  })

  it.each([
    ['a value', [{ ...tree, itemCollection: { insert: [item('x', { since: 'never' })] } }], '22007', 'itemCollection'],
    ['a key', [{ ...tree, itemCollection: { insert: [item('x'), item('x')] } }], '23505', 'itemCollection'],
    [
      'a null',
      [{ ...tree, itemCollection: { insert: [item('x', { owner: null, shopId: null })] } }],
      undefined,
      undefined,
    ],
    ['a policy', [{ ...tree, itemCollection: { insert: [item('x', { owner: 'bob' })] } }], '42501', 'itemCollection'],
    ['the row itself', [{ ...tree, name: '' }], '23514', null],
    ['a row to connect', [{ ...tree, kind: { connect: { name: 'none' } } }], undefined, 'kind'],
  ])('names the place where %s is refused, and keeps nothing', async (_, objects, sqlstate, field) => {
    const before = service.exchanges.length
    const { data, errors = [] } = await ask(objects)
    expect(data).toBe(null)
    const [error] = errors as readonly { readonly extensions: Record<string, unknown> }[]
    expect(error?.extensions['sqlstate']).toBe(sqlstate)
    if (field !== undefined) {
      const inner = field === null ? [] : [field, field === 'kind' ? 'connect' : 'insert']
      expect(error?.extensions['argument']).toEqual(['objects', ...inner])
      const [first, second, ...others] = service.exchanges.slice(before).map(({ statements }) => statements.length)
      expect([first, (second ?? 0) > 3, others]).toEqual([1, true, []])
    }
    expect(await rowsOf('select from shop')).toEqual([])
  })

  it('names the place among so many rows that another thread binds them', async () => {
    const insert = Array.from({ length: 8_000 }, (_, place) => item(`a${place}`))
    const before = service.exchanges.length
    const { errors } = await ask([{ name: 'a', itemCollection: { insert: [...insert, item('a7')] } }])
    expect(errors?.[0]?.extensions).toMatchObject({
      sqlstate: '23505',
      argument: ['objects', 'itemCollection', 'insert'],
    })
    expect(service.exchanges.slice(before).map(({ statements }) => statements.length)).toEqual([1, 3])
  })

  /** DDL that makes each place a statement of its own, and DDL that reverts it. */
  const observers: readonly (readonly [what: string, make: string, undo: string])[] = [
    [
      'a policy that asks for the parent',
      `create policy of_shop on item as restrictive using (exists (select from shop where shop.id = shop_id))`,
      'drop policy of_shop on item',
    ],
    [
      'a policy that asks by a function',
      'alter policy own on item using (mine(owner) and rules.count() > 0)',
      'alter policy own on item using (mine(owner))',
    ],
    [
      'a function of a policy that reads after all',
      `create or replace function me() returns text language sql as $$ select case when (select count(*) from kind) > 0
        then nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' end $$`,
      `create or replace function me() returns text language sql as $$ select nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' $$`,
    ],
    [
      'a parsed function of a policy that reads after all',
      `create or replace function mine(text) returns bool language sql stable return $1 = (
        select nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub' from kind limit 1)`,
      `create or replace function mine(text) returns bool language sql stable
        return $1 = nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub'`,
    ],
    [
      'a trigger',
      `create function rules.tell() returns trigger language plpgsql as $$ begin return null; end $$;
       create trigger tell after insert on shop execute function rules.tell()`,
      'drop trigger tell on shop; drop function rules.tell()',
    ],
    ['a rule', 'create rule twice as on delete to item do instead nothing', 'drop rule twice on item'],
    [
      'a default that counts',
      `alter table note alter text set default rules.count()`,
      'alter table note alter text drop default',
    ],
    [
      'a check that counts',
      'alter table item add constraint counted check (rules.count() > 0)',
      'alter table item drop constraint counted',
    ],
    [
      'a domain',
      'create domain word as text check (rules.count() >= 0); alter table note alter text type word',
      'alter table note alter text type text; drop domain word',
    ],
  ]
  it.each(observers)('is several statements from the next request on where there is %s', async (_what, make, undo) => {
    expect([dataOf(await ask([tree])).x.affectedCount, sent()]).toEqual([4, 1])
    await service.db.query('truncate shop, item, note restart identity')
    await service.db.query(make)
    try {
      expect(dataOf(await ask([tree])).x).toEqual({
        affectedCount: 4,
        records: [{ id: '1', name: 'a', owner: 'ann', kindId: 2 }],
      })
      expect(sent()).toBe(5)
    } finally {
      await service.db.query(undo)
    }
    await service.db.query('truncate shop, item, note restart identity')
    expect([dataOf(await ask([tree])).x.affectedCount, sent()]).toEqual([4, 1])
  })

  it('is several statements where rows may be there already, or a table has two places', async () => {
    const upserted = {
      ...tree,
      kind: { insert: { id: 2, name: 'books' }, onConflict: { constraint: 'kind_pkey', updateFields: ['name'] } },
    }
    expect([dataOf(await ask([upserted])).x.affectedCount, sent()]).toEqual([5, 5])
  })
})
