import { describe, expect, it, onTestFinished } from 'vitest'
import { column, schema, table } from '../../../support/catalog-literal.ts'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'
import { build } from '../../../compiler/model/build.ts'

describe('upsert: the setting', () => {
  const on = '@graphql({"upsert": {"enabled": true}})'
  const off = '@graphql({"upsert": {"enabled": false}})'
  const uniqueKeys = [
    { name: 'user_email_key', parts: [{ column: 'email' }], predicate: null },
    { name: 'user_lower', parts: [{ expression: 'lower(email)' }], predicate: null },
    { name: 'odd name', parts: [{ column: 'id' }], predicate: null },
  ]
  const columns = [column('id', 'int4', { notNull: true }), column('email')]
  const built = (ofSchema: string | null, ofTable: string | null) =>
    build({
      schemas: [schema('public', ofSchema)],
      relations: [table('user', columns, { comment: ofTable, uniqueKeys })],
    })

  it('is off until a comment switches it on; the table goes before its schema', () => {
    const enabled = (...comments: Parameters<typeof built>) => built(...comments).entity('user').upsert
    expect(enabled(null, null)).toBeUndefined()
    expect(built(null, null).entity('user')).not.toHaveProperty('uniqueKeys')
    expect(enabled(null, on)).toBe(true)
    expect(enabled(on, null)).toBe(true)
    expect(enabled(on, off)).toBeUndefined()
    expect(enabled(off, on)).toBe(true)
  })

  it('reports keys that cannot be named, and what is misspelt', () => {
    const { diagnostics } = built(null, on)
    expect(diagnostics.map(({ code, object }) => [code, object])).toEqual([
      ['unique-key-unusable', 'constraint "odd name" on public.user'],
    ])
    expect(
      built(null, on)
        .entity('user')
        .uniqueKeys?.map(({ name, whole }) => [name, whole]),
    ).toEqual([
      ['user_email_key', false],
      ['user_lower', true],
    ])
    expect(built(null, '@graphql({"upserts": {"enabled": true}})').diagnostics[0]?.fix).toMatch(/"upsert"/)
  })
})

const sql = `
  comment on schema public is '@graphql({"introspection": true, "upsert": {"enabled": true}})';
  create table account (
    id int primary key default (random() * 1000000000)::int, email text unique, secret text unique, name text, owner text,
    hits int not null default 1
  );
  create unique index account_lower on account (lower(name));
  create table plain (id int, name text);
  comment on table plain is '@graphql({"primary_key_columns": ["id"]})';
  insert into account (email, secret, name, owner) values ('a@x.io', 's', 'A', 'me'), ('b@x.io', 't', 'B', 'you');
  alter table account enable row level security;
  create policy seen on account for select using (true);
  create policy added on account for insert with check (true);
  create policy changed on account for update using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  grant select (id, email, name, owner, hits), insert, update (name, hits, secret) on account to anon;
  grant select, insert on account to authenticated;
  grant insert (name), select (name) on plain to anon;
`

describe('upsert: answers', () => {
  const service = forSuite(createTestService, { sql })

  it('offers the keys that the role may read and the fields that it may change', async () => {
    const anon = await introspect(service)
    expect(namesOf(anon, 'accountConstraint')).toEqual(['account_email_key', 'account_pkey'])
    expect(namesOf(anon, 'accountUpdateField')).toEqual(['name', 'hits'])
    expect(fieldsOf(anon, 'accountOnConflict')).toEqual([
      'constraint: accountConstraint!',
      'updateFields: [accountUpdateField!]',
      'filter: accountFilter',
    ])
    expect(signatureOf(anon, 'Mutation', 'insertIntoplainCollection')).not.toContain('onConflict')
    const other = await introspect(service, { role: 'authenticated' })
    expect(namesOf(other, 'accountConstraint')).toEqual([
      'account_email_key',
      'account_lower',
      'account_pkey',
      'account_secret_key',
    ])
    expect(fieldsOf(other, 'accountOnConflict')).toEqual(['constraint: accountConstraint!'])
  })

  const insert = (email: string, rest = '', more = '') =>
    `mutation { insertIntoaccountCollection(objects: [{email: "${email}", name: "new"${rest}}], onConflict: {constraint: account_email_key${more}}) { affectedCount records { email name hits } } }`

  it('holds changed rows to the policies of changes', async () => {
    const update = ', updateFields: [name]'
    expect(
      dataOf(await service.graphql(insert('a@x.io', '', update), { claims: { sub: 'me' } }))
        .insertIntoaccountCollection,
    ).toEqual({ affectedCount: 1, records: [{ email: 'a@x.io', name: 'new', hits: 1 }] })
    expect(messagesOf(await service.graphql(insert('b@x.io', ', hits: 7', update), { claims: { sub: 'me' } }))).toEqual(
      ['new row violates row-level security policy (USING expression) for table "account"'],
    )
    const kept = await service.db.query(`select name, hits from account where email = 'b@x.io'`)
    expect(kept.rows).toEqual([{ name: 'B', hits: 1 }])
  })

  it('knows another statement for another key, other fields and a filter, with variables too', async () => {
    const query = `mutation Q($c: accountOnConflict) { insertIntoaccountCollection(objects: [{email: "a@x.io", name: "again", hits: 3}], onConflict: $c) { affectedCount } }`
    const count = async (c: unknown) => {
      const { data } = await service.graphql(query, { variables: { c }, claims: { sub: 'me' } })
      return (data as { insertIntoaccountCollection: { affectedCount: number } } | null)?.insertIntoaccountCollection
        .affectedCount
    }
    expect(await count({ constraint: 'account_email_key' })).toBe(0)
    expect(await count({ constraint: 'account_email_key', updateFields: ['hits'] })).toBe(1)
    expect(
      await count({ constraint: 'account_email_key', updateFields: ['name'], filter: { name: { eq: 'no' } } }),
    ).toBe(0)
    expect(
      await count({ constraint: 'account_email_key', updateFields: ['name'], filter: { name: { eq: 'new' } } }),
    ).toBe(1)
    expect(await count({ constraint: 'account_pkey', updateFields: ['name'] })).toBeUndefined()
    expect(await count(null)).toBeUndefined()
    const row = await service.db.query(`select name, hits from account where email = 'a@x.io'`)
    expect(row.rows).toEqual([{ name: 'again', hits: 3 }])
  })

  it('finds what is there by the index of the key, and by no other', async () => {
    const update = 'updateFields: [name], filter: {name: {neq: "x"}}'
    await service.graphql(insert('a@x.io', '', `, ${update}`), { claims: { sub: 'me' } })
    const plan = await lastPlan(service)
    expect(plan).toContain('"Conflict Resolution":"UPDATE","Conflict Arbiter Indexes":["account_email_key"]')
    expect(plan).not.toContain('Seq Scan')
    dataOf(
      await service.graphql(insert('c@x.io').replace('account_email_key', 'account_pkey').replace('"new"', '"other"')),
    )
    expect(await lastPlan(service)).toContain(
      '"Conflict Resolution":"NOTHING","Conflict Arbiter Indexes":["account_pkey"]',
    )
    await service.db.query(`delete from account where email = 'c@x.io'`)
  })

  it('follows a key that gets another name', async () => {
    await service.db.query('alter index account_email_key rename to by_email')
    const [message] = messagesOf(await service.graphql(insert('a@x.io')))
    expect(message).toMatch(/Value "account_email_key" does not exist in "accountConstraint" enum/)
    const renamed = insert('a@x.io').replace('account_email_key', 'by_email')
    expect(dataOf(await service.graphql(renamed)).insertIntoaccountCollection.affectedCount).toBe(0)
    await service.db.query('alter table account rename constraint by_email to account_email_key')
    expect(dataOf(await service.graphql(insert('a@x.io'))).insertIntoaccountCollection.affectedCount).toBe(0)
  })
})

describe('upsert: keys that an insert fills in', () => {
  const keys = `
    comment on schema public is '@graphql({"introspection": true, "upsert": {"enabled": true}})';
    create table always_made (id int generated always as identity primary key, slug text unique);
    create table made (id int generated by default as identity primary key, slug text unique);
    create table serials (id serial primary key, slug text unique, unique (id, slug));
    create table computed (id int primary key, mail text, low text generated always as (lower(mail)) stored unique);
    create table ungranted (id int primary key, owner text default 'me', day date, unique (owner, day));
    create table preset (id int primary key, owner text, day date, kind text, unique (owner, day), unique (kind));
    comment on table preset is '@graphql({"preset": {"anon": {"owner": "''me''"}}, "readOnly": {"anon": ["kind"]}})';
    create table late (id int primary key deferrable, slug text unique deferrable initially deferred, code text unique);
    create table indexed (id int primary key, slug text, code text);
    create unique index indexed_lower on indexed (lower(slug));
    create unique index indexed_part on indexed (code) where slug is null;
    create table excluded (id int primary key, span int4range, exclude using gist (span with &&));
    create table whole (id int, part int, slug text, primary key (id, part)) partition by list (part);
    create table part_1 partition of whole default;
    create table elder (id int primary key, slug text unique);
    create table heir (extra text) inherits (elder);
    grant select, insert, update on all tables in schema public to anon;
    grant usage on all sequences in schema public to anon;
    revoke insert on ungranted from anon;
    grant insert (id, day) on ungranted to anon;
  `
  const service = forSuite(createTestService, { sql: keys })

  it.each([
    ['always_made', ['always_made_slug_key']],
    ['made', ['made_slug_key']],
    ['serials', ['serials_slug_key']],
    ['computed', ['computed_low_key', 'computed_pkey']],
    ['ungranted', ['ungranted_pkey']],
    ['preset', ['preset_owner_day_key', 'preset_pkey']],
    ['late', ['late_code_key']],
    ['indexed', ['indexed_lower', 'indexed_part', 'indexed_pkey']],
    ['excluded', ['excluded_pkey']],
    ['whole', ['whole_pkey']],
    ['elder', ['elder_pkey', 'elder_slug_key']],
  ])('of %s are these, and Postgres takes each', async (table, expected) => {
    const schema = await introspect(service)
    expect(namesOf(schema, `${table}Constraint`)).toEqual(expected)
    for (const key of expected) {
      const query = `mutation { insertInto${table}Collection(objects: [{}], onConflict: {constraint: ${key}}) { __typename } }`
      const { errors = [] } = await service.graphql(query)
      // A column that is required is another matter.
      expect(errors.filter(({ extensions }) => extensions.sqlstate !== '23502')).toEqual([])
    }
  })

  it('meets a row by what Postgres computes of the input, or the owner presets', async () => {
    const twice = async (table: string, object: string, key: string) => {
      const query = `mutation { insertInto${table}Collection(objects: [${object}], onConflict: {constraint: ${key}}) { affectedCount } }`
      dataOf(await service.graphql(query))
      return dataOf(await service.graphql(query.replace('id: 1', 'id: 2')))[`insertInto${table}Collection`]
    }
    const none = { affectedCount: 0 }
    expect(await twice('computed', '{id: 1, mail: "A@x"}', 'computed_low_key')).toEqual(none)
    expect(await twice('preset', '{id: 1, day: "2024-01-01"}', 'preset_owner_day_key')).toEqual(none)
  })
})

it('upsert: names no temporal key, which other fields still take', async () => {
  const service = await createTestService({
    sql: `
      create extension btree_gist;
      comment on schema public is '@graphql({"introspection": true, "upsert": {"enabled": true}, "uniqueKeys": {"enabled": true}})';
      create table stay (id int, span daterange, slug text unique, primary key (id, span without overlaps));
      create table only_stay (id int, span daterange, primary key (id, span without overlaps));
      grant select, insert on all tables in schema public to anon;
      insert into stay values (1, '[2024-01-01,2024-02-01)', 's');
    `,
    major: 18,
  })
  onTestFinished(() => service.close())
  const schema = await introspect(service)
  expect(namesOf(schema, 'stayConstraint')).toEqual(['stay_slug_key'])
  expect(signatureOf(schema, 'Mutation', 'insertIntoonly_stayCollection')).not.toContain('onConflict')
  expect(dataOf(await service.graphql('{ stayByPk(id: 1, span: "[2024-01-01,2024-02-01)") { slug } }'))).toEqual({
    stayByPk: { slug: 's' },
  })
})
