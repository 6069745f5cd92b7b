import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompiler } from '../../../../compiler/compile.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { createApplication, type Application } from '../../../support/generated-client.ts'

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
  create table note (id int primary key, body text not null);
  create trigger log after insert on note for each row execute function fill();
  create trigger count before insert on note for each statement execute function fill();
  create trigger touch before update on note for each row execute function fill();
  create view names as select id, name from account;
  comment on view names is '@graphql({"primary_key_columns": ["id"]})';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

let database: TestDatabase
let app: Application

beforeAll(async () => {
  database = await createDatabase({ sql })
  app = createApplication()
  const args = ['--from', database.adminUrl, '--out', join(app.folder, 'db'), '--role', 'anon']
  expect(await app.codegen(args)).toMatchObject({ exitCode: 0 })
})
afterAll(async () => {
  app?.remove()
  await database?.drop()
})

describe('an insert of the typed client', () => {
  const complaints = (call: string): string => {
    app.write(
      'insert.ts',
      `import { createClient } from '@catalograph/client'
       import { createDb } from './db/db.js'
       const db = createDb(createClient('https://project.example.com', 'key'))
       void db.${call}`,
    )
    return app.typeCheck(['insert.ts'])
  }
  const insert = (table: string, row: string, more = ''): string =>
    complaints(`${table}.insert({ objects: [${row}]${more} }, { affectedCount: true })`)

  it('needs what the database has nothing else for', () => {
    expect(insert('account', `{ name: 'Ada', address: 'ada@example.com' }`)).toBe('')
    expect(insert('account', `{ name: 'Ada' }`)).toContain("'address' is missing")
    expect(insert('account', `{ name: null, address: 'ada@example.com' }`)).toContain("'null' is not assignable")
    expect(insert('account', '{}')).toMatch(/missing the following properties.*: name, address/)
    expect(insert('note', `{ id: 1 }`)).toContain("'body' is missing")
    expect(insert('measure', `{ place: 'Rome' }`)).toContain("'at' is missing")
  })

  it('needs it beside onConflict, too: NOT NULL is checked first', async () => {
    const onConflict = `, onConflict: { constraint: 'note_pkey', updateFields: ['body'] }`
    expect(insert('note', `{ id: 1, body: 'x' }`, onConflict)).toBe('')
    expect(insert('note', `{ id: 1 }`, onConflict)).toContain("'body' is missing")
    await expect(
      database.query(`insert into note values (1, 'x'); insert into note (id) values (1) on conflict do nothing`),
    ).rejects.toThrow('null value in column "body"')
  })

  it('leaves to a trigger what it may set, and takes views as they are', () => {
    expect(insert('letter', '{}')).toBe('')
    expect(insert('names', '{}')).toBe('')
  })

  it('changes what is named', () => {
    expect(complaints(`account.update({ set: { nick: 'a' } }, { affectedCount: true })`)).toBe('')
  })
})

describe('what a compiler knows of required columns', () => {
  it('follows triggers and defaults', async () => {
    await withSession({ url: database.adminUrl }, async (query) => {
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
