import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { doctorCommand } from '../../../compiler/commands/doctor.ts'
import { prepareCommand } from '../../../compiler/commands/prepare.ts'
import { reportCommand } from '../../../compiler/commands/report.ts'
import { schemaCommand } from '../../../compiler/commands/schema.ts'
import { serveCommand } from '../../../compiler/commands/serve.ts'
import type { Finding } from '../../../compiler/commands/advise/doctor/findings.ts'
import type { SchemaReport } from '../../../runtime/graphql/report/report.ts'
import { runCommand } from '../../support/command.ts'
import { asRole, createDatabase, type TestDatabase } from '../../support/database.ts'

const commands = [prepareCommand, reportCommand, schemaCommand, serveCommand]
const secret = 'a secret that has more than thirty-two characters'

const tables = `
  create table author (id int primary key, name text not null);
  create table book (id int primary key, author_id int not null references author, title text);
  create view loose as select 1 as one;`

let db: TestDatabase
const run = (args: readonly string[], ownerUrl = db.ownerUrl) =>
  runCommand(commands, args, { environment: { DATABASE_URL: db.url, DATABASE_OWNER_URL: ownerUrl } })

/** Serves until it has nothing more to say at its start. */
const served = async (url: string, ownerUrl: string): Promise<string> => {
  const environment = { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, JWT_SECRET: secret, PORT: '0' }
  let end: (reason: string) => void = () => undefined
  const stop = new Promise<string>((resolve) => (end = resolve))
  const onNote = (line: string): unknown =>
    /tables and views; visible|catalograph report shows/.test(line) && setTimeout(end, 300, 'the test')
  const { exitCode, noted } = await runCommand(commands, ['serve'], { environment, stop, onNote, human: true })
  expect(exitCode).toBe(0)
  return noted
}

describe('a database that was never served', () => {
  beforeAll(async () => {
    db = await createDatabase({ sql: tables })
  })
  afterAll(() => db.drop())

  it('is prepared by prepare, or by the SQL that it prints', async () => {
    const { printed } = await run(['prepare', '--sql'])
    expect(printed).toMatch(/create schema if not exists catalograph/)
    const other = await createDatabase({ sql: tables })
    try {
      await other.superuser('makes event triggers').query(printed)
      const after = await run(['prepare', '--sql'], other.ownerUrl)
      expect(after).toMatchObject({ exitCode: 0, printed: '', noted: 'catalograph: the database is prepared' })
    } finally {
      await other.drop()
    }
    const refused = await run(['prepare'], db.url)
    expect(refused).toMatchObject({ exitCode: 1, noted: expect.stringContaining('prepare --sql') })
    const login = new URL(db.url).username
    expect(refused.noted).toContain(`${login} may not prepare the database, and nothing was changed`)
    const { url } = db.superuser('makes event triggers')
    expect(await run(['prepare'], url)).toMatchObject({ exitCode: 0, printed: 'the database is prepared' })
    expect(await run(['prepare'], db.url)).toMatchObject({ exitCode: 0, printed: 'the database is prepared' })
  })

  it('has an empty API, and the log says what to grant', async () => {
    const noted = await served(db.url, db.ownerUrl)
    expect(noted).toContain('3 tables and views; visible: 0 to anon, 0 to authenticated, 0 to service_role')
    const grants = /the API is empty; to publish what is there, run: (.*)/.exec(noted)?.[1] ?? ''
    await db.query(grants)
    const after = await served(db.url, db.ownerUrl)
    expect(after).toContain('3 tables and views; visible: 2 to anon, 2 to authenticated, 0 to service_role')
    expect(after).not.toContain('is empty')
  })
})

describe('a database with live tables', () => {
  beforeAll(async () => {
    db = await createDatabase({
      isolated: true,
      superuser: 'has superusers, and objects of several owners',
      sql: `${tables}
        comment on table author is '@graphql({"live": {"enabled": true}})';
        create role writer; grant usage, create on schema public to writer;
        set role writer; create table draft (id int primary key); reset role;
        comment on table draft is '@graphql({"live": {"enabled": true}})';
        create view late as select id from author where now() > '2020-01-01';
        comment on view late is '@graphql({"live": {"enabled": true}})';
        grant usage on schema public to anon; grant select on all tables in schema public to anon;`,
    })
  })
  afterAll(() => db.drop())

  const installed = async (): Promise<readonly string[]> => {
    const found = `select distinct tgrelid::regclass::text as name from pg_trigger where tgname like 'catalograph%' order by 1`
    return (await db.query(found)).rows.map(({ name }: { name: string }) => name)
  }

  it('is prepared with the triggers that report their changes, by prepare or by the SQL that it prints', async () => {
    const { printed } = await run(['prepare', '--sql'])
    expect(printed).toContain('create unlogged table if not exists catalograph.live_changes')
    expect(printed).toContain(`select catalograph.live_install('"public"."author"'::pg_catalog.regclass);`)
    await db.query(printed)
    expect(await installed()).toEqual(['author', 'draft'])
    expect(await run(['prepare', '--sql'])).toMatchObject({
      printed: '',
      noted: 'catalograph: the database is prepared',
    })
    await db.query(`select catalograph.live_remove('author'::regclass)`)
    expect(await run(['prepare'])).toMatchObject({ exitCode: 0, printed: 'the database is prepared' })
    expect(await installed()).toEqual(['author', 'draft'])
  })

  it('is reported on: what can be watched, and which tables pay for it', async () => {
    const { printed } = await run(['report'])
    expect(printed).toMatch(
      /Can be watched \(2\)\n {2}A write runs a trigger on: public\.author\n {4}table public\.author\n {6}.*: id, name\n/,
    )
    expect(printed).toMatch(/warning live-refused \(1\)\n.*depends on the clock/)
  })
})

describe('a database with remarks', () => {
  beforeAll(async () => {
    db = await createDatabase({
      prepare: true,
      sql: `${tables}
        comment on schema public is '@graphql({"inflect_names": true})';
        create table hidden (id int primary key);
        create table "2nd" (id int primary key);
        grant usage on schema public to anon;
        grant select on author, book, loose, "2nd" to anon;
        comment on table author is '@graphql({"nmae": "Writer"})';`,
    })
  })
  afterAll(() => db.drop())

  it('is reported on without a comment that asks for it', async () => {
    const { exitCode, printed } = await run(['report'])
    expect(exitCode).toBe(0)
    expect(printed).toMatch(/^anon finds 2 of 5 tables and views/)
    expect(printed).toMatch(
      /Not in the API: no grant \(1\)\n {2}.*\n {4}table public\.hidden\n {6}grant select on "public"\."hidden" to "anon";\n/,
    )
    expect(printed).toMatch(
      /To fix: row level security is off \(3\)\n {2}Whatever .*\n {4}table public\."2nd"\n {6}alter /,
    )
    expect(printed.split('Whatever the grants allow')).toHaveLength(2)
    expect(printed).toContain('Not in the API: no primary key (1)')
    expect(printed).toContain('Did you mean "name"?')
    expect(printed).toMatch(/To fix: the foreign key has no index \(1\)/)
    const report = JSON.parse((await run(['report', '--json', '--role', 'anon'])).printed) as SchemaReport
    expect(report.relations).toHaveLength(5)
    const unguarded = report.advice.find(({ object }) => object === 'table public.author')
    await db.query(unguarded?.sql ?? '')
    await db.query('insert into author values (1, $1)', ['Ada'])
    await db.queryAsLogin('set role anon')
    expect(await db.queryAsLogin('select id from author')).toMatchObject({ rows: [{ id: 1 }] })
    await db.queryAsLogin('reset role')
  })

  it('is reported on by the name of a role', async () => {
    const wrong = await run(['report', '--role', 'annon'])
    expect(wrong).toMatchObject({
      exitCode: 1,
      noted: 'catalograph: the database has no role annon; did you mean anon?',
    })
  })

  it('counts them in one line at start', async () => {
    const noted = await served(db.url, db.ownerUrl)
    expect(noted).toMatch(/0 errors and \d+ warnings on the schema: catalograph report shows them/)
    expect(noted).not.toContain('nmae')
  })

  it('has its schema printed for other tools', async () => {
    const { printed } = await run(['schema', '--role', 'anon'])
    const fields = buildSchema(printed).getQueryType()?.getFields() ?? {}
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(['authorCollection', 'bookCollection']))
    const out = join(await mkdtemp(join(tmpdir(), 'catalograph-schema-')), 'schema.graphql')
    expect(await run(['schema', '--out', out])).toMatchObject({ exitCode: 0, printed: '' })
    expect(await readFile(out, 'utf8')).toBe(`${printed}\n`)
    expect(await run(['schema', '--out', '/nowhere/x'])).toMatchObject({ exitCode: 2 })
    const nothing = await run(['schema', '--role', 'service_role'])
    expect(nothing).toMatchObject({
      exitCode: 1,
      noted: expect.stringContaining('catalograph report --role service_role'),
    })
  })
})

describe('a database with rows that have no key', () => {
  beforeAll(async () => {
    db = await createDatabase({
      prepare: true,
      superuser: 'has superusers, and objects of several owners',
      sql: `create role keeper login; alter schema public owner to keeper; set role keeper;
        create table media (campaign int, file int, name text, unique (campaign, file));
        insert into media values (1, 1, 'a'), (null, 1, 'b'), (1, null, 'c'), (null, null, 'd');
        comment on table media is '@graphql({"primary_key_columns": ["campaign", "file"]})';
        create table many (id int); insert into many select null from generate_series(1, 1200);
        comment on table many is '@graphql({"primary_key_columns": ["id"]})';
        create table "Whole" (id int primary key); insert into "Whole" values (1);
        create view "Outer" as select m.campaign, w.id as other from "Whole" w left join media m on m.campaign = w.id + 7;
        comment on view "Outer" is '@graphql({"primary_key_columns": ["campaign", "other"]})';
        create view failing as select 1 / (id - 1) as id from "Whole";
        comment on view failing is '@graphql({"primary_key_columns": ["id"]})';
        reset role;
        create table closed (id int); insert into closed values (null); revoke all on closed from public;
        comment on table closed is '@graphql({"primary_key_columns": ["id"]})';
        grant usage on schema public to anon; grant select on media to anon;`,
    })
  })
  afterAll(() => db.drop())

  const owned = () => ({
    environment: {
      DATABASE_URL: db.url,
      DATABASE_OWNER_URL: asRole(db.ownerUrl, 'keeper'),
      JWT_SECRET: secret,
    },
  })
  const messages = [
    '3 rows of table public.media have no key (a null in campaign, file) and are in no page, total or change.',
    '1000 rows or more of table public.many have no key (a null in id) and are in no page, total or change.',
    '1 row of view public."Outer" has no key (a null in campaign, other) and is in no page, total or change.',
  ].sort()

  it('is reported on with the number of them, where the owner may count and the relation can be read', async () => {
    const report = async () => {
      const { printed } = await runCommand(commands, ['report', '--json'], owned())
      const { advice } = JSON.parse(printed) as SchemaReport
      return advice.filter(({ problem }) => problem === 'rows without a key are in no page')
    }
    const found = await report()
    expect(found.map(({ message }) => message).sort()).toEqual(messages)
    const { printed } = await runCommand(commands, ['report'], owned())
    expect(printed).toMatch(/To fix: rows without a key are in no page \(3\)\n[^]* {2}3 rows of table public\.media/)
    const doctored = await runCommand([doctorCommand], ['doctor', '--json'], owned())
    const findings = (JSON.parse(doctored.printed) as readonly Finding[]).filter(({ message }) =>
      / no key \(/.test(message),
    )
    expect(findings.map(({ message }) => message).sort()).toEqual(messages)
    for (const { check, verdict, fix } of findings)
      expect([check, verdict, fix]).toEqual(['keys', 'advice', expect.stringMatching(/another key/)])
    await db.query('update media set campaign = coalesce(campaign, 9), file = coalesce(file, 9) where name <> $1', [
      'd',
    ])
    await db.query('delete from media where campaign is null')
    await db.query('alter table media alter column campaign set not null')
    await db.query(found.find(({ object }) => object === 'table public.media')?.sql ?? '')
    expect((await report()).map(({ object }) => object)).not.toContain('table public.media')
  })
})

describe('a database with extensions and without foreign keys', () => {
  beforeAll(async () => {
    db = await createDatabase({
      prepare: true,
      isolated: true,
      superuser: 'pg_stat_statements is no trusted extension',
      sql: `create extension pgcrypto; create extension citext; create extension pg_stat_statements;
        create table first (id int primary key); create table second (id int primary key, first_id int);
        grant usage on schema public to anon, service_role; grant select on first, second to anon, service_role;`,
    })
  })
  afterAll(() => db.drop())

  const reported = async (): Promise<SchemaReport> =>
    JSON.parse((await run(['report', '--json', '--role', 'service_role'])).printed) as SchemaReport

  it('is reported on with a line for each extension, and no advice on what they brought', async () => {
    const { printed } = await run(['report', '--role', 'service_role'])
    const lines = printed.split('\n').filter((line) => /pgcrypto|citext|pg_stat_statements/.test(line))
    expect(lines).toEqual([
      expect.stringMatching(/^ {2}extension citext brought \d+ functions$/),
      expect.stringMatching(/^ {2}extension pg_stat_statements brought 2 tables and views and \d+ functions$/),
      expect.stringMatching(/^ {2}extension pgcrypto brought \d+ functions$/),
    ])
    const { relations, functions, remarks, advice } = await reported()
    const brought = [...relations, ...functions].filter(({ extension }) => extension === 'pg_stat_statements')
    for (const { message, fix } of brought)
      expect([message, fix]).toEqual([
        'An extension brought it.',
        'Where it is meant for callers, wrap it in a view or function of your own.',
      ])
    expect(brought.length).toBeGreaterThan(2)
    expect(JSON.stringify([remarks, advice])).not.toContain('pg_stat')
  })

  it('is pointed to foreign keys by comment, until there is one', async () => {
    const pointers = async () =>
      (await reported()).advice.filter(({ problem }) => problem === 'no table has a foreign key')
    expect(await pointers()).toMatchObject([
      {
        object: 'schema public',
        sql: expect.stringMatching(/^-- .*setting foreign_keys \(docs\/api\.md\).*"foreign_schema": "public"/),
      },
    ])
    const key = {
      local_columns: ['first_id'],
      foreign_schema: 'public',
      foreign_table: 'first',
      foreign_columns: ['id'],
    }
    await db.query(`comment on table second is '@graphql(${JSON.stringify({ foreign_keys: [key] })})'`)
    expect(await pointers()).toEqual([])
    await db.query('comment on table second is null; alter table second add foreign key (first_id) references first')
    expect(await pointers()).toEqual([])
    await db.query('drop table second')
    expect(await pointers()).toEqual([])
  })
})
