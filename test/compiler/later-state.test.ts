import { describe, expect, it } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { createJudgeLater } from '../../compiler/following/serving/later-state.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'

/** After which changes a compiled schema serves requests that do not concern the changed tables (docs/exactness.md). */

const database = forSuite(createDatabase, {
  prepare: true,
  sql: `
    create schema other;
    create type mood as enum ('sad', 'ok');
    create domain positive as int check (value > 0);
    create table author (id int primary key, name text, code text);
    create table post (id int primary key, title text, author_id int references author, words int);
    create table named (id int primary key, a text);
    comment on column named.a is '@graphql({"name": "b"})';
    create table rowed (id int primary key, a text);
    create table holder (id int primary key, kept rowed);
    create view seen as select id, title from post;
    comment on view seen is '@graphql({"primary_key_columns": ["id"]})';
    create function twice(a int) returns int language sql immutable as 'select 2 * a';
    grant select on author, post, named to anon`,
})

/** The tables of what holds after a change, which is undone. Null: it must be compiled. */
const changedBy = async (sql: string): Promise<readonly string[] | null> => {
  const { query } = database
  const compiler = createCompiler({
    query,
    schemas: ['public'],
    version: versionExpression,
    counter: counterExpression,
  })
  const before = await compiler.compile()
  await query(`begin; ${sql}`)
  try {
    const later = createJudgeLater(before)(await compiler.readAhead())
    return later && later.changed.map((id) => (JSON.parse(id) as readonly string[])[1] ?? '')
  } finally {
    await query('rollback')
  }
}

describe('a compiled schema', () => {
  it.each([
    ['a column', 'alter table post add column more int', ['post']],
    ['a dropped column', 'alter table post drop column words', ['post']],
    ['another type of a column', 'alter table post alter column words type text', ['post']],
    ['a renamed column', 'alter table post rename column words to length', ['post']],
    ['a comment', "comment on table post is 'text'; comment on column post.title is 'text'", ['post']],
    ['a policy', 'create policy reading on post for select using (true)', []],
    ['an index', 'create index on post (title)', []],
    ['two tables', 'alter table post add column more int; alter table author add column more text', ['author', 'post']],
    [
      'a body of a function',
      "create or replace function twice(a int) returns int language sql immutable as 'select a'",
      [],
    ],
    ['a table of a schema that is not served', 'create table other.thing (id int primary key)', []],
  ])('holds beside %s', async (_, sql, changed) => {
    expect(await changedBy(sql)).toEqual(changed)
  })

  it.each([
    ['a table', 'create table added (id int primary key)'],
    ['a dropped table', 'drop table holder'],
    ['a renamed table', 'alter table post rename to article'],
    ['a foreign key', 'alter table post add column editor int references author'],
    ['a unique key', 'create unique index on author (name)'],
    ['a renamed column of a key', 'alter table author rename column id to key'],
    ['a nullable column of a key', 'alter table post alter column author_id set not null'],
    ['row-level security', 'alter table author enable row level security'],
    ['a setting of a table', `comment on table post is '@graphql({"name": "Article"})'`],
    ['a setting of a column', `comment on column post.title is '@graphql({"name": "heading"})'`],
    ['a table with a setting', 'alter table named add column more int'],
    ['a table whose rows are values', 'alter table rowed add column more int'],
    [
      'a table that is named in a setting',
      `comment on view seen is '@graphql({"primary_key_columns": ["id"]}) post';
      alter table post add column more int`,
    ],
    ['a column of an enum', 'alter table post add column feeling mood'],
    ['a column of a domain', 'alter table post add column more positive'],
    ['a label of an enum', "alter type mood rename value 'ok' to 'fine'"],
    ['a function', "create function thrice(a int) returns int language sql immutable as 'select 3 * a'"],
    ['a grant', 'grant insert on post to anon'],
    ['a setting of a schema', `comment on schema public is '@graphql({"inflect_names": true})'`],
    [
      'code that reads single claims',
      `create policy own on post using (title = current_setting('request.jwt.claim.sub', true))`,
    ],
  ])('does not hold after %s', async (_, sql) => {
    expect(await changedBy(sql)).toBeNull()
  })
})
