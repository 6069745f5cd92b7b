import { beforeAll, describe, expect, it } from 'vitest'
import { readCatalog } from '../../../compiler/catalog/read.ts'
import { createDatabase, majors } from '../../support/database.ts'
import { type Built, buildFrom } from './build.ts'
import { forSuite } from '../../support/for-suite.ts'

/** What Postgres prints, rather than what we believe that it prints. */

const sql = `
create type mood as enum ('sad', 'ok');
comment on type mood is '@graphql({"mappings": {"ok": "FINE"}})';
comment on schema public is '@graphql({"inflect_names": true})';
create table account (id int primary key, short_name varchar(8), code char(3), moods mood[], mood mood, note json);
create table address (account_id int primary key references account, street text not null);
create table event (id int not null, day date not null, primary key (id, day)) partition by range (day);
create table event_2024 partition of event for values from ('2024-01-01') to ('2025-01-01');
create table note (
  id bigint generated always as identity primary key, event_id int not null, day date not null,
  foreign key (event_id, day) references event
);
create function defaulted(
  a int, b int default 5, c text default 'it''s', d boolean default true, e float8 default 1.5, f smallint default 3,
  g int default -1, h varchar default 'x', i timestamptz default now()
) returns bigint language sql stable as 'select 1::bigint';
create function listed(a text default 'a,b') returns int language sql immutable as 'select 1';
create function accounts() returns setof account language sql stable as 'select * from account';
create function touch() returns void language sql as '';
create function initials(a account) returns text language sql stable as 'select left(a.short_name, 1)';
create function changed() returns trigger language plpgsql as 'begin return new; end';
`

describe.each(majors())('a real database, PostgreSQL %i', (major) => {
  let built: Built

  const database = forSuite(createDatabase, { major, sql })
  beforeAll(async () => {
    const query = (text: string, values: unknown[]) => database.query(text, values)
    built = buildFrom(await readCatalog(query, { schemas: ['public'], version: null }))
  })

  it('9.2 prints defaults so that plain literals are recognised', () => {
    expect(built.call('defaulted').args.map((arg) => [arg.field, arg.required, arg.defaultValue])).toEqual([
      ['a', true, null],
      ['b', false, '5'],
      ['c', false, '"it\'s"'],
      ['d', false, 'true'],
      ['e', false, '1.5'],
      ['f', false, '3'],
      ['g', false, null],
      ['h', false, null],
      ['i', false, null],
    ])
    expect(built.call('listed').args).toMatchObject([{ required: false, defaultValue: '"a,b"' }])
  })

  it('9 tells results apart and passes trigger functions over', () => {
    expect(built.functionFields).toEqual(['accounts', 'defaulted', 'listed', 'touch'])
    expect(built.call('accounts').result).toEqual({ kind: 'set', entity: '["public","account"]' })
    expect(built.call('touch')).toMatchObject({ volatile: true, result: { kind: 'void' } })
    expect(built.entity('account').computed.map((item) => item.field)).toEqual(['initials'])
  })

  it('3 gives types their GraphQL counterparts and casts', () => {
    expect(built.column('account', 'short_name')).toMatchObject({ field: 'shortName', maxLength: 8 })
    expect(built.column('account', 'code').maxLength).toBe(3)
    expect(built.model.entities.find(({ id }) => id === '["public","account"]')?.columns).toMatchObject([
      { type: 'integer', array: false, plainDelimiter: true },
      { type: 'character varying' },
      { type: 'bpchar' },
      { type: 'public.mood[]', array: true, json: { kind: 'native' } },
      { type: 'public.mood', json: { kind: 'mapped', names: [['ok', 'FINE']] } },
      { type: 'json', json: { kind: 'json-text' } },
    ])
  })

  it('8 relates tables, partitioned ones included', () => {
    const relations = (name: string) =>
      built.entity(name).relations.map((item) => [item.field, item.shape, item.notNull])
    expect(relations('address')).toEqual([['account', 'one', true]])
    expect(relations('account')).toEqual([['address', 'one', false]])
    expect(relations('note')).toEqual([
      ['event', 'one', true],
      ['event2024', 'one', false],
    ])
    expect(relations('event_2024')).toEqual([['noteCollection', 'many', false]])
  })

  it('10.1 keeps identity columns out of inputs', () => {
    expect(built.column('note', 'id').input).toBe(false)
    expect(built.column('note', 'day').input).toBe(true)
  })
})
