import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { product } from '../../compiler/commands/verify.ts'
import { difference } from './compare.ts'
import type { Json } from './interpreter/world.ts'
import { printVerdict } from './print.ts'
import { verifySchema, type Verdict } from './verify.ts'
import { commandOf } from './command.ts'
import type { BoundStatement, RunExchange } from '../../runtime/contract/execution.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { runBuilt, runHere } from '../support/built-cli.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { lawMajors } from '../support/whole.ts'

const schema = `
  do $$ begin execute format('alter database %I set timezone to ''Asia/Kolkata''', current_database()); end $$;
  comment on schema public is '@graphql({"inflect_names": true, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "distinctOn": {"enabled": true}, "enumArrays": {"enabled": true},
    "domains": {"enabled": true}})';
  create type mood as enum ('so so', 'fine', 'bad');
  comment on type mood is '@graphql({"name": "Feeling", "mappings": {"so so": "SO_SO"}})';
  create domain positive as int check (value > 0);
  create collation blurred (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table people (
    id bigint generated always as identity primary key, name varchar(12) not null, nick text collate "en-x-icu",
    blurry text collate blurred, moods mood[], mood mood, born date, seen timestamptz(3), at timestamp, hour time,
    height numeric(5,2), weight float8, small smallint, token uuid, secret text, settings jsonb, n positive,
    boss_id bigint references people, words text[], span interval);
  comment on table people is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into people (name, nick, blurry, moods, mood, born, seen, at, hour, height, weight, small, token, settings, n, boss_id, words, span)
    select 'person ' || i % 7, (array['a', 'B', 'b', 'ä', 'Z', null, 'ß'])[1 + i % 7], 'x', array['so so', 'bad']::mood[],
      (array['so so', 'fine', 'bad', null]::mood[])[1 + i % 4], date '2020-01-01' + i % 5, now() - i % 3 * interval '1.234 s',
      timestamp '2020-01-01' + i * interval '0.000001 s', time '12:00' + i % 4 * interval '0.5 s', i % 5 * 1.25, i % 3 / 2.0,
      i % 4, gen_random_uuid(), (array['{"a": [1, 2]}', '"text"', 'null', '3']::jsonb[])[1 + i % 4], 1 + i % 3,
      nullif(i / 3, 0), array['x', null, 'y'], interval '1 day'
    from generate_series(1, 40) i;
  create domain blob as jsonb;
  alter table people add column blob blob default '{"a": [1]}', add column grid int[];
  update people set grid = '{{1, 2}, {3, 4}}' where id = 3;
  create table teams (a int, b text collate "C", primary key (b, a), unique (a), owner_id bigint references people);
  insert into teams select i, chr(64 + i), 1 + i from generate_series(1, 9) i;
  create table members (id int primary key, team_a int, team_b text, person_id bigint unique references people,
    foreign key (team_b, team_a) references teams (b, a));
  insert into members select i, nullif(i % 9, 0), chr(64 + i % 9), i from generate_series(1, 30) i;
  create table events (id int primary key, person_id bigint references people, kind text not null, day date, node_id bigint);
  insert into events select i, 1 + i % 40, 'kind ' || i % 3, date '2024-01-01' + i % 9 from generate_series(1, 900) i;
  create table odd (id int primary key, day date); insert into odd values (1, 'infinity');
  create table keyless (a int); create table by_range (r int4range primary key);
  create view grown as select id, name from people where height > 2;
  comment on view grown is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["id"],
    "foreign_schema": "public", "foreign_table": "people", "foreign_columns": ["id"]}]})';
  create view doubled as select 1 as id, i as n from generate_series(1, 3) i;
  comment on view doubled is '@graphql({"primary_key_columns": ["id"]})';
  create type kind as enum ('a', 'b'); comment on type kind is '@graphql({"name": "Clash"})';
  create table clash (id int primary key, kind kind default 'a');
  insert into clash select i from generate_series(1, 5) i;
  create table mine (id int primary key, owner uuid);
  insert into mine values (1, '00000000-0000-4000-8000-000000000001'), (2, '00000000-0000-4000-8000-000000000002');
  alter table mine enable row level security;
  create policy own on mine using (owner = (current_setting('request.jwt.claims')::json ->> 'sub')::uuid);
  create function nick(people) returns text language sql stable as 'select ''other''';
  create function write_and_tell() returns int language sql volatile as 'insert into keyless values (1) returning a';
  create table locked (id int primary key);
  create schema far; create table far.away (id int primary key);
  alter table odd add column away int references far.away;
  create domain far.word as text; alter table events add column word far.word default 'x', add column words far.word[];
  create view writing as select id, write_and_tell() as told from odd;
  comment on view writing is '@graphql({"primary_key_columns": ["id"]})';
  grant select on all tables in schema public to authenticated;
  revoke select on people, locked from authenticated;
  grant select (id, name, nick, blurry, moods, mood, born, seen, at, hour, height, weight, small, token, settings, n, boss_id, words, span, blob, grid)
    on people to authenticated;`

it('the report says in one line what was not judged for one reason', () => {
  const objects = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ object: `table public.${name}`, reason: 'it has no key' }))
  const counts = { tables: 1, rows: 2, documents: 3, refused: 0, skipped: 0 }
  const notJudged = [...objects, { object: 'function public.f()', reason: 'what functions do is not known' }]
  const text = printVerdict({ role: 'anon', schema: 'public', differences: [], notJudged, ...counts })
  expect(text.split('\n').slice(1)).toEqual([
    '  not judged: table public.a, table public.b, table public.c and 2 more: it has no key',
    '  not judged: function public.f(): what functions do is not known',
  ])
})

it('the report shows where two long answers differ, not what they have in common', () => {
  const rows = Array.from({ length: 300 }, (_, index) => ({ node: { id: index } }))
  const lacking = rows.filter((_, index) => index !== 250)
  expect(difference({ edges: rows }, { edges: lacking })).toBe(
    'data.edges: expected 300 items, but the answer has 299; data.edges[250].node.id: expected 250, but the answer was 251',
  )
  expect(difference({ edges: rows }, { edges: rows.slice(0, 299) })).toBe(
    'data.edges: expected 300 items, but the answer has 299; data.edges[299]: expected {"node":{"id":299}}, but the answer was no item',
  )
  const bag = rows.map(({ node }) => node)
  expect(difference({ bag }, { bag: bag.filter(({ id }) => id !== 7) }, new Set<Json>([bag]))).toBe(
    'data.bag, in any order: expected 300 items, but the answer has 299; only expected: {"id":7}, only in the answer: no item',
  )
  const text = 'x'.repeat(5_000)
  expect(difference(`${text}left${text}`, `${text}right${text}`)).toMatch(
    /^data: expected \.\.\.x{59,60}left.*\.\.\., but the answer was \.\.\.x{59,60}right.*\.\.\.$/,
  )
})

interface Told {
  readonly seed: number
  readonly verdicts: readonly Verdict[]
}

describe.each(lawMajors())('catalograph verify on PostgreSQL %i', { timeout: 150_000 }, (major) => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await createDatabase({ major, prepare: true, sql: schema })
  })
  afterAll(() => db.drop())

  const run = async (...args: readonly string[]) => {
    const ran = await runHere(commandOf(product), ['verify', ...args], { DATABASE_URL: db.url })
    return { ...ran, told: (): Told => JSON.parse(ran.stdout) as Told }
  }

  it('finds nothing on a schema of many types, and says what it did not judge', async () => {
    const ran = await run('--role', 'authenticated', '--minutes', '0.05', '--rows', '200', '--json')
    expect(ran, ran.stdout).toMatchObject({ exitCode: 0, stderr: '' })
    const [verdict] = ran.told().verdicts
    expect(verdict).toMatchObject({ role: 'authenticated', schema: 'public', differences: [], tables: 8 })
    expect(verdict?.documents).toBeGreaterThan(0)
    expect(verdict?.notJudged.map(({ object, reason }) => `${object}: ${reason}`).sort()).toEqual([
      'Clash.kind: the API has no such field, or another one of that name',
      'constraint odd_away_fkey on public.odd: it leads to another schema',
      'function public.nick(public.people): what functions do is not known',
      'function public.write_and_tell(): what functions do is not known',
      'table public.by_range: its key (r) is not readable, or of a type that is not known',
      'table public.events: more than 200 rows are visible: only some are asked for',
      'table public.keyless: it has no key',
      'table public.locked: authenticated may read no column of it',
      'table public.odd: day: values that are not known',
      'table public.people: grid: values that are not known',
      'view public.doubled: its key does not tell its rows apart',
      'view public.grown: relations that a comment declares are not known',
      'view public.writing: cannot execute INSERT in a read-only transaction',
    ])
    expect((await db.query('select count(*)::int as n from keyless')).rows).toEqual([{ n: 0 }])
  })

  it('passes over changes by others during the run', async () => {
    await db.query(`create function moving() returns double precision language sql volatile as 'select random()';
      create view restless as select i as id, moving() as at from generate_series(1, 3) i; grant select on restless to anon;
      comment on view restless is '@graphql({"primary_key_columns": ["id"]})'`)
    try {
      const ran = await run('--role', 'anon', '--minutes', '0.05', '--json')
      expect(ran.told().verdicts).toMatchObject([{ differences: [] }])
      expect(ran.told().verdicts[0]?.skipped).toBeGreaterThan(0)
    } finally {
      await db.query('drop view restless')
    }
  })

  it('says so where there is nothing to judge', async () => {
    const ran = await run('--role', 'anon', '--minutes', '0')
    expect(ran).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('anon on schema public: 0 documents') })
  })

  it('refuses what it cannot use, in one sentence', async () => {
    expect(await run('--minutes', 'soon')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--minutes') })
    expect(await run('--claims', '[]')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--claims') })
    expect(await run('--role', 'nobody', '--minutes', '0')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('nobody'),
    })
    const away = await runBuilt(['verify'], { DATABASE_URL: 'postgres://someone:hunter2@127.0.0.1:1/none' })
    expect(away.exitCode).toBe(3)
    expect(away.stderr).not.toContain('hunter2')
  })

  describe('of rows that hide from some statements', () => {
    // Policies that hide rows from statements other than those that read all rows.
    const shy = (name: string): string => `create table ${name} (id int primary key, body text);
      insert into ${name} select i, 'x' from generate_series(1, 5) i;
      alter table ${name} enable row level security; grant select on ${name} to anon;
      create policy shy on ${name} using (id < 4 or current_query() like '%to_jsonb(array[%');`
    beforeAll(async () => {
      await db.query(['shy', 'timid', '"coy one"'].map(shy).join('\n'))
    })
    afterAll(async () => {
      await db.query('drop table shy, timid, "coy one"')
    })
    const asked = (...args: readonly string[]) => run('--role', 'anon', '--seed', '1', '--minutes', '1', ...args)

    it('reports a difference as a small document that fails the run', async () => {
      const ran = await asked('--most', '1', '--skip', 'timid', '--skip', 'public.coy one', '--json')
      expect(ran.exitCode).toBe(1)
      const [difference, ...more] = ran.told().verdicts[0]?.differences ?? []
      expect(more).toEqual([])
      expect(difference?.message).toMatch(/^(?:data|members of data)/)
      expect(difference?.document.replace(/\s+/g, ' ').length).toBeLessThan(160)
      expect(ran.told().verdicts[0]?.notJudged).toContainEqual({
        object: 'table public.timid',
        reason: 'it is left out',
      })
      const shown = await asked('--most', '1', '--skip', 'timid', '--skip', 'coy one')
      expect(shown.stdout).toContain('ANSWERED OTHERWISE (1)')
      expect(shown.stdout).toContain('shyCollection')
      expect(shown.stdout).not.toContain('timidCollection')
    })

    it('goes on after a difference, and reports each form of document once', async () => {
      const ran = await asked('--most', '4', '--skip', 'coy one', '--json')
      expect(ran.exitCode).toBe(1)
      const { differences = [] } = ran.told().verdicts[0] ?? {}
      expect(differences).toHaveLength(4)
      expect(new Set(differences.map(({ document }) => document)).size).toBe(4)
      expect(differences.map(({ document }) => document).join()).toContain('shyCollection')
      expect(differences.map(({ document }) => document).join()).toContain('timidCollection')
    })

    it('has nothing to judge where every table is left out, and refuses to leave out what is not there', async () => {
      const none = await asked('--skip', 'shy', '--skip', 'timid', '--skip', 'coy one')
      expect(none).toMatchObject({ exitCode: 3, stdout: expect.stringContaining('it is left out') })
      expect(await asked('--skip', 'shy', '--skip', 'nothing')).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('--skip names no table or view of a served schema: "nothing"'),
      })
    })
  })
})

describe('catalograph verify', { timeout: 120_000 }, () => {
  let db: TestDatabase
  beforeAll(async () => {
    db = await createDatabase({ prepare: true, sql: schema })
  })
  afterAll(() => db.drop())

  /** Everything unchanged, except the text of the statements that the service sends. */
  async function verifyWith(change: (text: string) => string): Promise<Verdict> {
    const { annotated, revision } = await withSession({ url: db.url }, (query) =>
      createCompiler({ query, schemas: ['public'], version: null }).compile(),
    )
    const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 1 })
    const changed = (statement: BoundStatement): BoundStatement =>
      statement.name.startsWith('catalograph.verify.')
        ? statement
        : { name: statement.name, text: change(statement.text), values: statement.values }
    const run: RunExchange = (exchange) => database.run({ ...exchange, statements: exchange.statements.map(changed) })
    try {
      const [served] = annotated.schemas
      if (served === undefined) throw new Error('there is no schema')
      const deadline = Date.now() + 100_000
      return await verifySchema(
        {
          product,
          annotated,
          revision,
          run,
          role: 'authenticated',
          claims: {},
          seed: 1,
          rows: 200,
          most: 1,
          skip: [],
          deadline,
        },
        served,
      )
    } finally {
      await database.close()
    }
  }

  it.each([
    ['nulls on the wrong side', / nulls last/g, ' nulls first'],
    ['an order the wrong way round', / desc\b/g, ' asc'],
    ['a condition that is too wide', / < /g, ' <= '],
    ['a condition that is turned round', / is null/g, ' is not null'],
    ['a total that counts too much', /count\(\*\)/g, '(count(*) + 1)'],
  ])('notices %s', async (_what, found, instead) => {
    const { differences } = await verifyWith((text) => text.replace(found, instead))
    expect(differences).toHaveLength(1)
  })
})
