import type { GraphQLSchema } from 'graphql'
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { introspect, namesOf, signatureOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create schema elsewhere;
  create schema auth2;
  create type mood as enum ('sad', 'glad');
  create type pair as (a int, b text);
  create domain positive as int check (value > 0);
  create domain pair_domain as pair;
  create domain mood_domain as mood;
  create domain list_domain as int[];
  create table account (id int primary key, email text, score numeric(6, 2), owner_id int references account);
  comment on table account is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "max_rows": 3})';
  create table keyless (a int, b text);
  create view keyless_view as select id, email from account;
  create table elsewhere.far (id int primary key);
  create table calls (name text);
  insert into account values (1, 'a@x.io', 1.50, null), (2, 'b@x.io', null, 1), (3, null, 3, 1), (4, 'd@x.io', 4, null), (5, 'e@x.io', 5, 2);
  insert into keyless values (1, 'one');
  create sequence counter;

  create function one() returns int stable language sql as 'select 1';
  comment on function one() is 'The number one. @graphql({"name": "uno"})';
  create function immutable_one() returns int immutable language sql as 'select 1';
  create function volatile_one() returns int language sql as 'select 1';
  create function private_one() returns int stable language sql as 'select 1';
  revoke execute on function private_one from public;
  create function overloaded(a int) returns int stable language sql as 'select 1';
  create function overloaded(a text) returns int stable language sql as 'select 1';
  revoke execute on function overloaded(text) from public;
  create function nameless(int) returns int stable language sql as 'select 1';
  create function half_named(a int, int) returns int stable language sql as 'select 1';
  create function takes_mood(a mood) returns int stable language sql as 'select 1';
  create function takes_moods(a mood[]) returns int stable language sql as 'select 1';
  create function takes_pair(a pair) returns int stable language sql as 'select 1';
  create function takes_pairs(a pair[]) returns int stable language sql as 'select 1';
  create function takes_mood_domains(a mood_domain[]) returns int stable language sql as 'select 1';
  create function takes_any(a anyelement) returns int stable language sql as 'select 1';
  create function gives_rows() returns account[] stable language sql as 'select array(select account from account)';
  create function takes_row(a account, b int) returns int stable language sql as 'select 1';
  create function takes_positive(a positive) returns int stable language sql as 'select a::int';
  create function takes_positives(a positive[]) returns int stable language sql as 'select a[1]::int';
  create function takes_pair_domain(a pair_domain) returns int stable language sql as 'select (a).a';
  create function takes_mood_domain(a mood_domain) returns int stable language sql as 'select 1';
  create function takes_list_domain(a list_domain) returns int stable language sql as 'select 1';
  create function gives_mood() returns mood stable language sql as $$ select 'sad'::mood $$;
  create function gives_moods() returns mood[] stable language sql as $$ select '{sad}'::mood[] $$;
  create function gives_record() returns record stable language sql as 'select 1, 2';
  create function gives_pair() returns pair stable language sql as $$ select 1, 'b' $$;
  create function gives_trigger() returns trigger language plpgsql as 'begin return new; end';
  create function gives_event_trigger() returns event_trigger language plpgsql as 'begin end';
  create function gives_keyless() returns keyless stable language sql as 'select * from keyless';
  create function gives_far() returns elsewhere.far stable language sql as 'select 1';
  create function gives_out(out a int, out b int) stable language sql as 'select 1, 2';
  create function gives_one_out(out a int) stable language sql as 'select 7';
  create function set_of_int() returns setof int stable language sql as 'select 1';
  create function table_of() returns table (id int, email text) stable language sql as $$ select 1, 'x' $$;
  create function one_int(a int) returns setof int stable rows 1 language sql as 'select generate_series(1, a)';
  create function many_args(variadic a int[]) returns int stable language sql as 'select 1';
  create procedure proceed(a int) language sql as 'select 1';
  create aggregate total(int) (sfunc = int4pl, stype = int, initcond = '0');
  create function nothing(a int) returns void stable language sql as 'select 1';
  create function log_call(name text) returns void language sql as 'insert into calls values (name)';
  create function mixed_out(out total int, a int, out other int, b int) stable language sql as 'select a, b';
  create function swapped(out total int, a int, b int) stable language sql as 'select a - b';

  create function int_of() returns int stable language sql as 'select 5';
  create function big_of() returns bigint stable language sql as 'select 9007199254740993';
  create function numeric_of() returns numeric stable language sql as 'select 1.50';
  create function text_of() returns text stable language sql as $$ select 'ab' $$;
  create function null_of() returns text stable language sql as 'select null::text';
  create function json_of() returns jsonb stable language sql as $$ select '{"a": [1, null]}'::jsonb $$;
  create function json_string_of() returns jsonb stable language sql as $$ select '"abc"'::jsonb $$;
  create function bool_of() returns bool stable language sql as 'select true';
  create function list_of() returns int[] stable language sql as $$ select '{1,null}'::int[] $$;
  create function big_list_of() returns bigint[] stable language sql as $$ select '{1,null}'::bigint[] $$;
  create function time_of() returns timestamp stable language sql as $$ select '2000-01-01 18:00:00'::timestamp $$;
  create function float_of() returns float8 stable language sql as $$ select 'NaN'::float8 $$;
  create function domain_of() returns positive stable language sql as 'select 3::positive';
  create function opaque_of() returns interval stable language sql as $$ select '1 day'::interval $$;

  create function no_row() returns account stable language sql as 'select * from account where false';
  create function null_row() returns account stable language sql as 'select null::account';
  create function empty_row() returns account stable language sql as 'select null::int, null::text, null::numeric, null::int';
  create function half_row() returns account stable language sql as 'select null::int, $$x$$::text, null::numeric, null::int';
  create function row_by(account_id int) returns account stable language sql as 'select * from account where id = account_id';
  create function first_row(lowest int) returns setof account stable rows 1 language sql as 'select * from account where id >= lowest order by id';
  create function change_row(account_id int, new_email text) returns account language sql as
    'update account set email = new_email where id = account_id returning *';
  create function all_accounts() returns setof account stable language sql as 'select * from account';
  create function from_id(lowest int) returns setof account stable language sql as 'select * from account where id >= lowest';
  create function keyless_rows() returns setof account stable language sql as
    'select id, email, score, owner_id from account where id = 1 union all select null, $$x$$, null, null';
  create function times() returns int stable language sql as $$ select coalesce(nullif(current_setting('test.runs', true), ''), '0')::int $$;
  create function counted() returns setof account language plpgsql as
    $$ begin perform nextval('counter'); return query select * from account; end $$;
  create function counted_stable() returns setof account stable language plpgsql as
    $$ begin perform set_config('test.runs', times() + 1 || '', true); return query select * from account; end $$;
  create function failing() returns int language plpgsql as
    $$ begin raise exception 'it failed' using detail = 'secret', hint = 'secret'; end $$;

  create function with_defaults(a int, b int2 default 7, c bool default true, d float8 default 1.5, e text default 'it''s "x"')
    returns text stable language sql as $$ select concat_ws('|', a, b, c, d, coalesce(e, 'null')) $$;
  create function other_defaults(a int default -1, b text default null, c varchar default 'v', d numeric default 1.5, e bigint default 5,
    f timestamptz default now(), g int default 1 + 1, h float8 default 1) returns text stable language sql as $$ select concat_ws('|', a, coalesce(b, 'null'), c, d, e, g, h) $$;
  create function comma_default(a int, b text default 'a,b') returns text stable language sql as $$ select concat_ws('|', a, b) $$;
  create function out_default(a int, out r text, b text default 'x, (y', c int[] default array[1, 2]) stable language sql
    as $$ select concat_ws('|', a, b, c::text) $$;
  create function volatile_default(a int, b int default 5, c int[] default '{1,2}', d numeric default round(1.45, 1)) returns text
    language sql as $$ select concat_ws('|', a, b, c::text, d) $$;
  create function list_default(a int[] default '{4,2}') returns int stable language sql as 'select a[1]';
  create function long_text(a varchar(2)) returns text stable language sql as 'select a::text';
  create function lists(a int[], b text[] default null) returns text stable language sql as $$ select a::text || coalesce(b::text, '') $$;
  create function every_type(a int2, b int8, c float4, d numeric, e uuid, f date, g timestamptz, h jsonb, i interval, j bool)
    returns text stable language sql as $$ select concat_ws('|', a, b, c, d, e, f, g at time zone 'utc', h, i, j) $$;
  create function select_table("select" int, "Mixed" int) returns int stable language sql as 'select "select" + "Mixed"';

  create function upper_email(account) returns text stable language sql as 'select upper($1.email)';
  comment on function upper_email is 'Loud.';
  create function email_parts(me account) returns text[] stable language sql as $$ select string_to_array($1.email, '@') $$;
  create function as_json(account) returns jsonb stable language sql as $$ select jsonb_build_object('id', $1.id) $$;
  create function doubled(account) returns bigint immutable language sql as 'select $1.id * 2::bigint';
  create function volatile_field(account) returns int volatile language sql as 'select $1.id';
  create function label(account) returns text stable language sql as $$ select 'account' $$;
  create function label(keyless_view) returns text stable language sql as $$ select 'view' || $1.id $$;
  create function boss(account) returns account stable language sql as 'select * from account where id = $1.owner_id';
  create function first_report(account) returns setof account stable rows 1 language sql as 'select * from account where owner_id = $1.id order by id limit 1';
  create function reports(account) returns setof account stable language sql as 'select * from account where owner_id = $1.id';
  create function plain_view(account) returns keyless_view stable language sql as 'select * from keyless_view where id = $1.id';
  create function plain_views(account) returns setof keyless_view stable language sql as 'select * from keyless_view';
  create function own_mood(account) returns mood stable language sql as $$ select 'sad'::mood $$;
  create function report_ids(account) returns setof int stable rows 1 language sql as 'select id from account where owner_id = $1.id';
  create function touch(account) returns void stable language sql as 'select 1';
  create function private_field(account) returns int stable language sql as 'select 1';
  revoke execute on function private_field from public;
  create function with_argument(account, a int) returns int stable language sql as 'select 1';
  create function optional_argument(account, a int default 1) returns int stable language sql as 'select 1';
  create function every_field(account) returns table (id int) stable language sql as 'select 1';

  grant usage on schema public to anon, authenticated;
  grant all on account, keyless, keyless_view, calls to anon;
  grant all on sequence counter to anon;
  grant select (id, email) on account to authenticated;
`

let schema: GraphQLSchema
const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))
const refused = async (query: string, options?: AskOptions) => messagesOf(await service.graphql(query, options))
const calls = async (): Promise<number> =>
  Number((await service.db.query(`select case when is_called then last_value else 0 end as n from counter`)).rows[0].n)

const service = forSuite(createTestService, { sql })
beforeAll(async () => {
  schema = await introspect(service)
})

const query = (field: string) => signatureOf(schema, 'Query', field)
const mutation = (field: string) => signatureOf(schema, 'Mutation', field)
const pages =
  'first: Int, last: Int, before: Cursor, after: Cursor, offset: Int, filter: accountFilter, orderBy: [accountOrderBy!]'

describe('9.1 root functions', () => {
  it('stable and immutable ones are fields of Query, volatile ones of Mutation', async () => {
    expect([query('uno'), query('immutable_one'), query('volatile_one')]).toEqual([
      'uno: Int',
      'immutable_one: Int',
      undefined,
    ])
    expect([mutation('volatile_one'), mutation('uno')]).toEqual(['volatile_one: Int', undefined])
    expect(await ask('{ uno immutable_one }')).toEqual({ uno: 1, immutable_one: 1 })
    expect(await ask('mutation { a: volatile_one b: volatile_one }')).toEqual({ a: 1, b: 1 })
  })
  const hidden = [
    ['1 without EXECUTE', 'private_one'],
    ['2 overloads, whoever may execute them', 'overloaded'],
    ['3 arguments without a name', 'nameless'],
    ['3 some arguments without a name', 'half_named'],
    ['4 an enum argument', 'takes_mood'],
    ['4 an enum array argument', 'takes_moods'],
    ['4 a composite argument', 'takes_pair'],
    ['4 a row argument beside others', 'takes_row'],
    ['4 a domain over an enum', 'takes_mood_domain'],
    ['4 a domain over an array', 'takes_list_domain'],
    ['4 a composite array argument', 'takes_pairs'],
    ['4 an array of a domain over an enum', 'takes_mood_domains'],
    ['4 a pseudo-type', 'takes_any'],
    ['5 an array of rows', 'gives_rows'],
    ['5 an enum result', 'gives_mood'],
    ['5 an enum array result', 'gives_moods'],
    ['5 a record', 'gives_record'],
    ['5 a composite', 'gives_pair'],
    ['5 a trigger', 'gives_trigger'],
    ['5 an event trigger', 'gives_event_trigger'],
    ['5 a row of a table without a key', 'gives_keyless'],
    ['5 a row of an unserved table', 'gives_far'],
    ['5 several OUT columns', 'gives_out'],
    ['6 a set of scalars', 'set_of_int'],
    ['6 a table of its own', 'table_of'],
    ['procedures', 'proceed'],
    ['aggregates', 'total'],
    ['variadic functions', 'many_args'],
    ['functions of a row', 'upper_email'],
  ] as const
  test.each(hidden)('hides %s', async (_, name) => {
    expect([...namesOf(schema, 'Query'), ...namesOf(schema, 'Mutation')]).not.toContain(name)
    expect(await refused(`{ ${name} }`)).toEqual([
      expect.stringContaining(`Cannot query field "${name}" on type "Query".`),
    ])
  })
  it('4 domains over scalars and composites are plain', async () => {
    expect([query('takes_positive'), query('takes_positives'), query('takes_pair_domain')]).toEqual([
      'takes_positive(a: Opaque!): Int',
      'takes_positives(a: [Opaque]!): Int',
      'takes_pair_domain(a: Opaque!): Int',
    ])
    expect(await ask('{ takes_positive(a: 3) takes_positives(a: [4]) takes_pair_domain(a: "(5,x)") }')).toEqual({
      takes_positive: 3,
      takes_positives: 4,
      takes_pair_domain: 5,
    })
    expect(await refused('{ takes_positive(a: -3) }')).toEqual([
      'value for domain positive violates check constraint "positive_check"',
    ])
  })
  it('6 a set of one row counts as a row', async () => {
    expect(query('first_row')).toBe('first_row(lowest: Int!): account')
    expect(await ask('{ first_row(lowest: 5) { id } none: first_row(lowest: 50) { id } }')).toEqual({
      first_row: { id: 5 },
      none: null,
    })
    expect(await refused('{ first_row(lowest: 1) { id } }')).toEqual([
      'more than one row returned by a subquery used as an expression',
    ])
  })
  it('6 a set of one scalar is that scalar', async () => {
    expect(query('one_int')).toBe('one_int(a: Int!): Int')
    expect(await ask('{ one_int(a: 1) uno }')).toEqual({ one_int: 1, uno: 1 })
    expect(await ask('{ one_int(a: 0) uno }')).toEqual({ one_int: null, uno: 1 })
    expect(await refused('{ one_int(a: 2) uno }')).toEqual([
      'more than one row returned by a subquery used as an expression',
    ])
  })
  it('void is a field that is null once it ran', async () => {
    expect([query('nothing'), mutation('log_call')]).toEqual([
      'nothing(a: Int!): Opaque',
      'log_call(name: String!): Opaque',
    ])
    expect(await ask('{ nothing(a: 1) }')).toEqual({ nothing: null })
    expect(await ask('mutation { log_call(name: "x") again: log_call(name: "y") }')).toEqual({
      log_call: null,
      again: null,
    })
    expect((await service.db.query('select name from calls order by name')).rows).toEqual([
      { name: 'x' },
      { name: 'y' },
    ])
  })
  it('names arguments of input modes only', async () => {
    expect(query('mixed_out')).toBeUndefined()
    expect(query('gives_one_out')).toBe('gives_one_out: Int')
    expect(query('swapped')).toBe('swapped(a: Int!, b: Int!): Int')
    expect(await ask('{ gives_one_out swapped(b: 1, a: 5) }')).toEqual({ gives_one_out: 7, swapped: 4 })
  })
  it('describes by the comment', () => {
    expect(schema.getQueryType()?.getFields()['uno']?.description).toBe('The number one.')
    expect(schema.getQueryType()?.getFields()['immutable_one']?.description).toMatch(/./)
  })
  it('keep nothing when a function fails, and show only its message', async () => {
    expect(await refused('mutation { log_call(name: "z") failing }')).toEqual(['it failed'])
    expect((await service.db.query(`select from calls where name = 'z'`)).rowCount).toBe(0)
  })
})

describe('9.1.1 machinery schemas', () => {
  it.each(['graphql', 'graphql_public', 'extensions'])('%s offers its tables and no functions', async (name) => {
    const other = await createTestService({
      schemas: ['public', name],
      sql: `create schema ${name}; create table ${name}.thing (id int primary key); insert into ${name}.thing values (1);
        create function ${name}.machine() returns int stable language sql as 'select 1';
        create function ${name}.gear(${name}.thing) returns int stable language sql as 'select 2';
        grant usage on schema ${name} to anon; grant select on ${name}.thing to anon;`,
    })
    onTestFinished(() => other.close())
    expect((await other.graphql('{ machine }')).errors?.[0]?.message).toBe(
      'Cannot query field "machine" on type "Query".',
    )
    expect(await other.graphql('{ thingByPk(id: 1) { gear } }')).toEqual({ data: { thingByPk: { gear: 2 } } })
  })
})

describe('9.2 arguments', () => {
  it('are NonNull unless they have a default, in the order of declaration', () => {
    expect(query('with_defaults')).toBe('with_defaults(a: Int!, b: Int, c: Boolean, d: Float, e: String): String')
    expect(query('lists')).toBe('lists(a: [Int]!, b: [String]): String')
    expect(query('every_type')).toBe(
      'every_type(a: Int!, b: BigInt!, c: Float!, d: BigFloat!, e: UUID!, f: Date!, g: Datetime!, h: JSON!, i: Opaque!, j: Boolean!): String',
    )
  })
  it('have the defaults that the catalogue counts, whatever commas they hold', async () => {
    expect([query('comma_default'), query('list_default'), query('out_default'), mutation('volatile_default')]).toEqual(
      [
        'comma_default(a: Int!, b: String): String',
        'list_default(a: [Int]): Int',
        'out_default(a: Int!, b: String, c: [Int]): String',
        'volatile_default(a: Int!, b: Int, c: [Int], d: BigFloat): String',
      ],
    )
    expect(await ask('{ comma_default(a: 1) list_default }')).toEqual({ comma_default: '1|a,b', list_default: 4 })
    expect(
      await ask('{ comma_default(a: 1, b: null) given: list_default(a: [7]) none: list_default(a: null) }'),
    ).toEqual({
      comma_default: '1',
      given: 7,
      none: null,
    })
    expect(await ask('{ out_default(a: 1, c: [3]) }')).toEqual({ out_default: '1|x, (y|{3}' })
    const volatile = 'mutation ($b: Int, $d: BigFloat) { volatile_default(a: 1, b: $b, c: [2], d: $d) }'
    expect(await ask(volatile)).toEqual({ volatile_default: '1|5|{2}|1.5' })
    expect(await ask(volatile, { variables: { d: '2', b: null } })).toEqual({ volatile_default: '1|{2}|2' })
  })
  it('name a default that is not a literal of GraphQL in their descriptions', async () => {
    const { fields } = (
      await ask('{ __type(name: "Query") { fields { name args { name description defaultValue } } } }')
    ).__type as { fields: { name: string; args: { description: string; defaultValue: string | null }[] }[] }
    const told = (name: string) =>
      fields
        .find((field) => field.name === name)
        ?.args.map(({ description, defaultValue }) => [description, defaultValue])
    expect(told('comma_default')).toEqual([
      ['The argument a.', null],
      ['The argument b.', '"a,b"'],
    ])
    expect(told('list_default')).toEqual([["The argument a. Default: '{4,2}'::integer[]", null]])
  })
  it('show plain literals as defaults', async () => {
    const defaults = async (name: string) =>
      (await ask('{ __type(name: "Query") { fields { name args { name defaultValue } } } }')).__type.fields
        .find((field: { name: string }) => field.name === name)
        .args.map((arg: { defaultValue: string | null }) => arg.defaultValue)
    expect(await defaults('with_defaults')).toEqual([null, '7', 'true', '1.5', '"it\'s \\"x\\""'])
    expect(await defaults('other_defaults')).toEqual([null, null, null, null, null, null, null, '1'])
  })
  it('have no length rule, are wrapped into lists, and keep odd names', async () => {
    expect(await ask('{ long_text(a: "longer") lists(a: 1) select_table(select: 1, mixed: 2) }')).toEqual({
      long_text: 'longer',
      lists: '{1}',
      select_table: 3,
    })
    expect(await ask(`{ lists(a: [1, null], b: ["x,y", "\\"q\\"", null]) }`)).toEqual({
      lists: '{1,NULL}{"x,y","\\"q\\"",NULL}',
    })
  })
  it('of every type arrive', async () => {
    const uuid = '7e6bb18a-1a35-4d2b-9c5f-6a3b8e0c2d11'
    expect(
      await ask(
        `{ every_type(a: 1, b: 9007199254740993, c: 1.5, d: "0.10", e: "${uuid}", f: "2024-02-29", g: "2000-01-01T18:00:00+02:00", h: "{\\"a\\": 1}", i: "1 day", j: true) }`,
      ),
    ).toEqual({ every_type: `1|9007199254740993|1.5|0.10|${uuid}|2024-02-29|2000-01-01 16:00:00|{"a": 1}|1 day|t` })
  })
  it('refuse what is missing, unknown or ill-typed', async () => {
    expect(await refused('{ with_defaults }')).toEqual([
      'Field "with_defaults" argument "a" of type "Int!" is required, but it was not provided.',
    ])
    expect(await refused('{ with_defaults(a: 1, unknown: 2) }')).toEqual([
      'Unknown argument "unknown" on field "Query.with_defaults".',
    ])
    expect(await refused('{ with_defaults(a: "1") }')).toEqual(['Int cannot represent non-integer value: "1"'])
  })
})

describe('9.3 results', () => {
  const values = [
    ['int_of', 5],
    ['big_of', '9007199254740993'],
    ['numeric_of', '1.50'],
    ['text_of', 'ab'],
    ['null_of', null],
    ['json_of', '{"a": [1, null]}'],
    ['json_string_of', 'abc'],
    ['bool_of', true],
    ['list_of', [1, null]],
    ['big_list_of', ['1', null]],
    ['time_of', '2000-01-01T18:00:00'],
    ['float_of', 'NaN'],
    ['domain_of', 3],
    ['opaque_of', '1 day'],
  ] as const
  test.each(values)('have the type of %s', async (name, value) => {
    expect(await ask(`{ ${name} }`)).toEqual({ [name]: value })
  })
  it('a row is null when there is none, or when every column is null', async () => {
    expect(query('row_by')).toBe('row_by(account_id: Int!): account')
    expect(
      await ask(
        '{ no_row { id } null_row { id } empty_row { id } half_row { id email } row_by(account_id: 2) { email account { email } } }',
      ),
    ).toEqual({
      no_row: null,
      null_row: null,
      empty_row: null,
      half_row: { id: null, email: 'x' },
      row_by: { email: 'b@x.io', account: { email: 'a@x.io' } },
    })
  })
})

describe('9.3 sets', () => {
  it("are nullable connections, with the connection's arguments behind their own", () => {
    expect(query('all_accounts')).toBe(`all_accounts(${pages}): accountConnection`)
    expect(query('from_id')).toBe(`from_id(lowest: Int!, ${pages}): accountConnection`)
    expect(mutation('counted')).toBe(`counted(${pages}): accountConnection`)
  })
  it('hold and count no row without a key', async () => {
    expect(await ask('{ keyless_rows { totalCount edges { node { id nodeId } } pageInfo { hasNextPage } } }')).toEqual({
      keyless_rows: {
        totalCount: 1,
        edges: [{ node: { id: 1, nodeId: 'WyJwdWJsaWMiLCAiYWNjb3VudCIsIDFd' } }],
        pageInfo: { hasNextPage: false },
      },
    })
  })
  const everything =
    '{ totalCount edges { node { id } } pageInfo { hasNextPage hasPreviousPage startCursor } aggregate { count max { id } } }'
  test.each([
    ['all of it', `counted(first: 1, offset: 1) ${everything}`],
    ['one page', 'counted { edges { node { id } } }'],
    ['a count', 'counted { totalCount }'],
    ['nothing of its rows', 'counted { __typename }'],
    ['rows that cannot be', 'counted(filter: {id: {eq: null}}) { edges { node { id } } totalCount }'],
    ['no row', 'counted(first: 0) { edges { node { id } } }'],
  ])('run once, whatever is asked of them: %s', async (_, field) => {
    const before = await calls()
    await ask(`mutation { ${field} }`)
    expect(await calls()).toBe(before + 1)
  })
})

describe('9.4 computed fields', () => {
  const field = (name: string) => signatureOf(schema, 'account', name)
  it('have the type of the result, nullable, without arguments', () => {
    expect([
      field('upper_email'),
      field('email_parts'),
      field('as_json'),
      field('doubled'),
      field('volatile_field'),
      field('touch'),
    ]).toEqual([
      'upper_email: String',
      'email_parts: [String]',
      'as_json: JSON',
      'doubled: BigInt',
      'volatile_field: Int',
      'touch: Opaque',
    ])
    expect([field('boss'), field('first_report'), field('plain_view')]).toEqual([
      'boss: account',
      'first_report: account',
      'plain_view: keyless_view',
    ])
    expect(field('reports')).toBe(`reports(${pages}): accountConnection`)
  })
  it('read', async () => {
    const { accountByPk } = await ask(`{ accountByPk(id: 2) {
      upper_email email_parts as_json doubled volatile_field touch label boss { id boss { id } } first_report { id }
      reports { edges { node { id } } totalCount } plain_view { email label __typename }
    } }`)
    expect(accountByPk).toEqual({
      upper_email: 'B@X.IO',
      email_parts: ['b', 'x.io'],
      as_json: '{"id": 2}',
      doubled: '4',
      volatile_field: 2,
      touch: null,
      label: 'account',
      boss: { id: 1, boss: null },
      first_report: { id: 5 },
      reports: { edges: [{ node: { id: 5 } }], totalCount: 1 },
      plain_view: { email: 'b@x.io', label: 'view2', __typename: 'keyless_view' },
    })
  })
  it('are null where they answer none', async () => {
    expect(
      await ask(
        '{ accountByPk(id: 3) { upper_email email_parts first_report { id } reports(first: 1) { edges { node { id } } pageInfo { hasNextPage } } } }',
      ),
    ).toEqual({
      accountByPk: {
        upper_email: null,
        email_parts: null,
        first_report: null,
        reports: { edges: [], pageInfo: { hasNextPage: false } },
      },
    })
  })
  it('that answer a set of one value answer that value', async () => {
    expect(field('report_ids')).toBe('report_ids: Int')
    const ids = '{ edges { node { id report_ids } } }'
    expect((await ask(`{ accountCollection(filter: {id: {in: [2, 3]}}) ${ids} }`)).accountCollection.edges).toEqual([
      { node: { id: 2, report_ids: 5 } },
      { node: { id: 3, report_ids: null } },
    ])
    expect(await refused(`{ accountCollection ${ids} }`)).toEqual([
      'more than one row returned by a subquery used as an expression',
    ])
  })
  it('may be a row of a relation without a key, without a node id, and no connection', async () => {
    expect(namesOf(schema, 'keyless_view')).toEqual(['id', 'email', 'label'])
    expect(schema.getType('keyless_view')?.toConfig()).toMatchObject({ interfaces: [] })
    expect(await refused('{ accountByPk(id: 2) { plain_views { edges { node { id } } } } }')).toEqual([
      'Found table with no primary key',
    ])
  })
  it('are hidden with more arguments, without EXECUTE, and as tables of their own', () => {
    const names = [...namesOf(schema, 'account'), ...namesOf(schema, 'Query')]
    for (const name of ['with_argument', 'optional_argument', 'private_field', 'every_field'])
      expect(names).not.toContain(name)
  })
  it('of enums need functionShapes', () => {
    expect(field('own_mood')).toBeUndefined()
  })
  it('need SELECT on the whole table', async () => {
    const seen = await introspect(service, { role: 'authenticated' })
    expect(namesOf(seen, 'account')).toEqual(['nodeId', 'id', 'email'])
  })
  it('are described by the comment', () => {
    const type = schema.getType('account')
    expect(type && 'getFields' in type ? type.getFields()['upper_email']?.description : null).toBe('Loud.')
  })
})
