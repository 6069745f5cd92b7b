import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { importCommand } from '../../../../compiler/commands/import.ts'
import { tagsOfComment } from '../../../../compiler/commands/import/postgraphile/smart-tags.ts'
import { runCommand, type CommandAnswer } from '../../../support/command.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

const sql = `
  create type mood as enum ('calm', 'loud');
  create table person (id int primary key, full_name text, password text, created int, mood mood);
  create table post (id int primary key, author_id int not null references person, title text, old_title text, secret text);
  create view top_post as select id, author_id from post where id < 3;
  create function post_excerpt(post) returns text language sql stable as $$ select left($1.title, 2) $$;
  create function hidden() returns int language sql stable as 'select 1';
  comment on table person is E'@name user_accounts\\n@omit delete\\nSomeone who writes.';
  comment on column person.full_name is E'@name display_name';
  comment on column person.password is E'@omit';
  comment on column person.created is E'@behavior -insert -update';
  comment on type mood is '@name feeling';
  comment on constraint post_author_id_fkey on post is E'@fieldName writer\\n@foreignFieldName writings';
  comment on column post.old_title is E'@deprecated use title\\n@sortable';
  comment on view top_post is E'@primaryKey id\\n@foreignKey (author_id) references person (id)|@fieldName writer|@foreignFieldName topWritings\\nThe best.';
  comment on function hidden() is '@omit execute';
  comment on constraint post_pkey on post is '@omit';
  comment on table post is 'What was written. @graphql({"totalCount": {"enabled": true}})';
  alter table post enable row level security;
  create policy own on post using (author_id = nullif(current_setting('jwt.claims.person_id', true), '')::int or id > 1);
  grant usage on schema public to anon;
  grant select on all tables in schema public to anon;
  grant insert, delete on person to anon;
  insert into person values (1, 'Ann', 'x', 1, 'calm');
  insert into post values (1, 1, 'first', 'old'), (2, 1, 'second', null);`

const tags = `{
  /* As PostGraphile writes it */
  version: 1,
  config: {
    class: {
      "public.post": {
        description: 'A writer\\'s text',
        attribute: { title: { tags: { name: "head_line" } }, secret: { tags: { omit: 'create,update' } } }, // keys are bare
      },
      nowhere: { tags: { name: 'x' } },
    },
    procedure: { post_excerpt: { tags: { name: "shortText", deprecated: ["use", "headLine"], }, }, },
  },
}`

const db = forSuite(createDatabase, { sql, prepare: true })
let folder = ''
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'import-'))
})

const run = (...args: readonly string[]): Promise<CommandAnswer> =>
  runCommand([importCommand], ['import', 'postgraphile', ...args], {
    environment: { DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl },
  })

describe('catalograph import postgraphile', () => {
  it('turns tags of comments and of a file into settings, which answer documents as before', async () => {
    const document = `{
      userAccountCollection { edges { node { displayName mood created writings { totalCount edges { node { headLine shortText writer { id } } } }
        topWritings { edges { node { nodeId } } } } } } }`
    const writing = { headLine: 'second', shortText: 'se', writer: { id: 1 } }
    const topWritings = [
      { nodeId: Buffer.from('["public", "top_post", 1]').toString('base64') },
      { nodeId: Buffer.from('["public", "top_post", 2]').toString('base64') },
    ]
    const expected = [
      {
        displayName: 'Ann',
        mood: 'calm',
        created: 1,
        writings: { totalCount: 1, edges: [{ node: writing }] },
        topWritings,
      },
    ]
    mkdirSync(join(folder, 'callers'))
    file('callers/one.json', JSON.stringify({ role: 'anon', documents: [{ graphql: document, expected }] }))
    const { exitCode, printed, noted } = await run(
      file('postgraphile.tags.json5', tags),
      '--compare',
      join(folder, 'callers'),
    )
    expect(noted).toBe('catalograph: 1 documents compared, 0 differ\ncatalograph: the SQL runs; nothing was changed')
    expect(exitCode).toBe(0)
    for (const line of [
      'class nowhere: the served schemas have no such object',
      'omitted for delete: grants decide that here: revoke delete on "public"."person" from "anon";',
      'revoke execute on function "public"."hidden" from public;',
      'column public.post.old_title: @sortable',
      'constraint public.post.post_pkey: @omit',
      'policy own of public.post reads jwt.claims.person_id, which is request.jwt.claim.person_id here',
    ])
      expect(printed.split('-- Not carried:')[1]).toContain(line)
  })

  it('keeps the tags and the other settings of a comment', async () => {
    const { exitCode } = await run(file('postgraphile.tags.json5', tags), '--apply')
    expect(exitCode).toBe(0)
    const { rows } = await db.query(
      `select obj_description('person'::regclass) as person, obj_description('post'::regclass) as post, obj_description('top_post'::regclass) as top`,
    )
    expect(rows[0]).toEqual({
      person: `@name user_accounts\n@omit delete\nSomeone who writes.\n@graphql({"name":"UserAccount","description":"Someone who writes.","readOnly":{"public":["password","created"]},"writeOnly":{"public":["password"]}})`,
      post: `What was written. @graphql({"totalCount":{"enabled":true},"description":"A writer's text","readOnly":{"public":["secret"]}})`,
      top: expect.stringContaining('"primary_key_columns":["id"],"foreign_keys":[{"local_columns":["author_id"]'),
    })
    expect((await run(file('postgraphile.tags.json5', tags))).printed).not.toContain('comment on')
  })

  it.each([
    ['broken text', '{ version: ', 'cannot be parsed'],
    ['another file', '{ "name": "x" }', 'has no "config" of tags'],
  ])('refuses %s with the name of the file', async (_, text, message) => {
    const path = file('broken.json5', text)
    expect(await run(path)).toMatchObject({ exitCode: 2, noted: expect.stringContaining(`${path} ${message}`) })
  })

  it('reads lines at the beginning of a comment as tags', () => {
    const { tags: found, rest } = tagsOfComment(
      '\n@name x\n@foreignKey (a) references b\n@foreignKey (c) references d\n@omit\nText\n@name no tag',
    )
    expect([...found]).toEqual([
      ['name', ['x']],
      ['foreignKey', ['(a) references b', '(c) references d']],
      ['omit', ['']],
    ])
    expect(rest).toBe('Text\n@name no tag')
  })
})
