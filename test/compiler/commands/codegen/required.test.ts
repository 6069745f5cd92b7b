import { describe, expect, it } from 'vitest'
import { createCompiler } from '../../../../compiler/compile.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createGenerated } from '../../../support/generated-client.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "upsert": {"enabled": true}})';
  create domain mood as text default 'fine';
  create domain email as text;
  create table account (
    id bigint generated always as identity primary key, number serial, nick text, name text not null, address email not null,
    mood mood not null, since timestamptz not null default now(), shout text not null generated always as (upper(name)) stored);
  create table measure (place text, at date, value int, primary key (place, at)) partition by range (at);
  create table letter (id uuid primary key, sender text not null);
  create function fill() returns trigger language plpgsql as $$
    begin new.id := coalesce(new.id, gen_random_uuid()); new.sender := current_user; return new; end $$;
  create trigger fill before insert or update on letter for each row execute function fill();
  create function pass() returns trigger language plpgsql as 'begin return new; end';
  create table note (id int primary key, body text not null);
  create trigger log after insert on note for each row execute function pass();
  create trigger count before insert on note for each statement execute function pass();
  create trigger touch before update on note for each row execute function pass();
  create view names as select id, name from account;
  comment on view names is '@graphql({"primary_key_columns": ["id"]})';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

const app = forSuite(createGenerated, sql)

describe('an insert of the typed client', () => {
  const complaints = (...calls: readonly string[]) => app.complaints(calls.map((call) => `void db.${call}`))
  const insert = (table: string, row: string, more = ''): string =>
    `${table}.insert({ objects: [${row}]${more}, select: { affectedCount: true } })`
  const has = (text: string): unknown => expect.stringContaining(text)

  it('needs what the database has nothing else for', () => {
    const told = complaints(
      insert('account', `{ name: 'Ada', address: 'ada@example.com' }`),
      insert('account', `{ name: 'Ada' }`),
      insert('account', `{ name: null, address: 'ada@example.com' }`),
      insert('account', '{}'),
      insert('note', `{ id: 1 }`),
      insert('measure', `{ place: 'Rome' }`),
      `account.update({ set: { nick: 'a' }, select: { affectedCount: true } })`,
    )
    expect(told).toEqual([
      '',
      has("'address' is missing"),
      has("'null' is not assignable"),
      has('name, address'),
      has("'body' is missing"),
      has("'at' is missing"),
      '',
    ])
  })

  it('needs it beside onConflict, too: NOT NULL is checked first', async () => {
    const onConflict = `, onConflict: { constraint: 'note_pkey', updateFields: ['body'] }`
    const told = complaints(insert('note', `{ id: 1, body: 'x' }`, onConflict), insert('note', `{ id: 1 }`, onConflict))
    expect(told).toEqual(['', has("'body' is missing")])
    const conflicting = `insert into note values (1, 'x'); insert into note (id) values (1) on conflict do nothing`
    await expect(app.database.query(conflicting)).rejects.toThrow('null value in column "body"')
  })

  it('leaves to a trigger what it may set, and takes views as they are', () => {
    expect(complaints(insert('letter', '{}'), insert('names', '{}'))).toEqual(['', ''])
  })
})

describe('the required columns of a compiler', () => {
  it('follow triggers and defaults', async () => {
    await withSession({ url: app.database.ownerUrl }, async (query) => {
      const compiler = createCompiler({ query, schemas: ['public'], version: null })
      const required = async (): Promise<readonly string[]> => {
        const { revision } = await compiler.compile()
        const note = revision.manifest.entities.find(({ relation }) => relation === 'note')
        return note?.columns.flatMap((column) => (column.required === true ? [column.column] : [])) ?? []
      }
      expect(await required()).toEqual(['id', 'body'])
      await query('create trigger fill before insert on public.note for each row execute function public.fill()')
      expect(await required()).toEqual([])
      await query('drop trigger fill on public.note')
      expect(await required()).toEqual(['id', 'body'])
      await query('alter table public.note alter id set default 1')
      expect(await required()).toEqual(['body'])
    })
  })
})
