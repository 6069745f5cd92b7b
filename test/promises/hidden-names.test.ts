import { describe, expect, it } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import { messagesOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService, allTriggers, type Answer } from '../support/service.ts'

/** Answers never name what the caller may not see, and never hold SQL or a stack. */

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create type mood as enum ('happy', 'sad');
  create type hush as enum ('quiet', 'silent');
  create table account (id int primary key, email text, salary int, mood mood);
  create table vault (id int primary key, account_id int references account, hush hush);
  create function vault_size() returns int stable language sql as 'select count(*)::int from vault';
  create function open_vault() returns int volatile language sql as 'select 1';
  create function account_rank(account) returns int stable language sql as 'select 1';
  create function broken() returns int stable language plpgsql as
    $$ begin execute 'select nothing from account where'; return 1; end $$;
  create function failing() returns int stable language plpgsql as
    $$ begin raise exception 'refused' using detail = 'the detail', hint = 'the hint', table = 'vault', column = 'hush'; end $$;
  grant usage on schema public to anon, authenticated;
  revoke execute on all functions in schema public from public;
  revoke usage on type hush from public;
  grant select (id, email, mood), insert (id, email) on account to anon;
  grant execute on function broken, failing to anon;
  grant all on all tables in schema public to authenticated;
  grant execute on all functions in schema public to authenticated;
  grant usage on type hush to authenticated;
`

const service = forSuite(createTestService, { sql })

const row = (selection: string): string => `{ accountByPk(id: 1) { ${selection} } }`
const token = (relation: string): string => Buffer.from(`["public", "${relation}", 1]`).toString('base64')

/** Slips next to hidden names, and what the names are. */
const slips: readonly (readonly [query: string, hidden: RegExp])[] = [
  ['{ vaultCollectio { __typename } }', /vaultCollection/],
  ['{ vaultByP(id: 1) { id } }', /vaultByPk/],
  ['{ vaultSiz }', /vaultSize/],
  ['mutation { insertIntoVaultCollectio(objects: []) { affectedCount } }', /VaultCollection\b/],
  ['mutation { deleteFromAccountCollectio { affectedCount } }', /deleteFromAccountCollection\b/],
  ['mutation { openVaul }', /openVault/],
  [row('salar'), /salary/],
  [row('accountRan'), /accountRank/],
  [row('vaultCollectio { __typename }'), /vaultCollection/],
  ['{ accountCollection(filter: {salar: {eq: 1}}) { __typename } }', /salary/],
  ['{ accountCollection(orderBy: {salar: AscNullsLast}) { __typename } }', /salary/],
  ['mutation { insertIntoAccountCollection(objects: [{salar: 1}]) { affectedCount } }', /salary/],
  ['mutation { insertIntoAccountCollection(objects: [{moo: happy}]) { affectedCount } }', /"mood"/],
  ['{ node(nodeId: "x") { hush } }', /Vault/],
  ['{ node(nodeId: "x") { salary } }', /inline fragment/],
  ['{ node(nodeId: "x") { ... on Vaul { id } } }', /"Vault"/],
  ['query($v: VaultFilte) { accountCollection(filter: $v) { __typename } }', /"VaultFilter"/],
  ['query($v: Hus) { accountCollection(filter: $v) { __typename } }', /"Hush"/],
]

describe('suggestions', () => {
  it.each(slips)('do not name what is hidden in %s', async (query, hidden) => {
    for (const message of messagesOf(await service.graphql(query))) expect(message).not.toMatch(hidden)
  })
  it('are given to those who may see', async () => {
    const messages = messagesOf(
      await service.graphql('{ vaultCollectio { __typename } accountByPk(id: 1) { salar } }', {
        role: 'authenticated',
      }),
    )
    expect(messages).toEqual([
      expect.stringMatching(/^Cannot query field "vaultCollectio" on type "Query"\. Did you mean "vaultCollection"/),
      expect.stringMatching(/^Cannot query field "salar" on type "Account"\. Did you mean "salary"/),
    ])
  })
})

describe('a hidden thing', () => {
  const alike: readonly (readonly [hidden: string, absent: string])[] = [
    [`{ node(nodeId: "${token('vault')}") { nodeId } }`, `{ node(nodeId: "${token('qqqqq')}") { nodeId } }`],
    ['{ vaultCollection { __typename } }', '{ qqqqqCollection { __typename } }'],
    [row('salary'), row('qqqqqq')],
    ['{ node(nodeId: "x") { ... on Vault { id } } }', '{ node(nodeId: "x") { ... on Qqqqq { id } } }'],
    [
      'query($v: Hush) { accountCollection(filter: $v) { __typename } }',
      'query($v: Qqqq) { accountCollection(filter: $v) { __typename } }',
    ],
  ]
  it.each(alike)('looks like an absent one: %s', async (hidden, absent) => {
    const plain = (messages: readonly string[]) =>
      messages.map((message) =>
        message.replaceAll(/qqqqqq|salary|qqqqq|vault|qqqq|hush/gi, '*').replace(/ Did you mean.*$/, ''),
      )
    expect(plain(messagesOf(await service.graphql(hidden)))).toEqual(plain(messagesOf(await service.graphql(absent))))
  })
})

describe('relations that cannot be watched', () => {
  /** Each table of the API reads one thing that anon has no right on, or no schema of; `sentence` is the sentence for a role with rights on it. */
  const reasons = {
    by_table: 'table hidden.payroll is not live.',
    by_right: 'table public.wages is not live.',
    by_function: 'function hidden.is_auditor() cannot be watched: it is volatile.',
    by_execute: 'function public.audits() cannot be watched: what it reads is not known.',
    by_setting: 'function hidden.tenant() cannot be watched: it depends on a setting.',
    by_clock: 'view hidden.today cannot be watched: it depends on the clock.',
    by_heir: 'table hidden.heir is not live.',
  } as const
  const tables = Object.keys(reasons)
  const live = '@graphql({"live": {"enabled": true}})'
  const policies = {
    by_table: 'exists (select from hidden.payroll)',
    by_right: 'exists (select from wages)',
    by_function: 'hidden.is_auditor()',
    by_execute: 'audits()',
    by_setting: 'hidden.tenant()',
    by_clock: 'exists (select from hidden.today)',
  }
  const watched = forSuite(createTestService, {
    withTriggers: true,
    sql: `
        comment on schema public is '@graphql({"live": {"enabled": true}, "introspection": true})';
        create schema hidden;
        create table author (id int primary key);
        ${tables.map((name) => `create table ${name} (id int primary key, author_id int references author);`).join('\n')}
        create table wages (id int primary key);
        comment on table wages is '@graphql({"live": {"enabled": false}})';
        create table hidden.payroll (id int primary key);
        create table hidden.heir () inherits (by_heir);
        comment on table hidden.heir is '@graphql({"live": {"enabled": false}})';
        create view hidden.today as select current_date as day;
        comment on view hidden.today is '${live}';
        create function hidden.is_auditor() returns bool volatile language sql as 'select true';
        create function audits() returns bool stable language plpgsql as 'declare b bool; begin execute ''select true'' into b; return b; end';
        create function hidden.tenant() returns bool stable language sql as $$ select current_setting('app.secret_tenant') = 'x' $$;
        create function public.author_tenant(author) returns bool stable language sql as $$ select current_setting('app.secret_tenant') = 'x' $$;
        revoke execute on function audits() from public;
        ${Object.entries(policies)
          .map(
            ([name, using]) =>
              `alter table ${name} enable row level security; create policy p on ${name} to authenticated using (${using});`,
          )
          .join('\n')}
        grant select on author, ${tables.join(', ')} to anon, authenticated;
        grant usage on schema hidden to authenticated;
        grant execute on function audits() to authenticated;
        grant select on wages, hidden.heir, hidden.today to authenticated;
        grant select (id) on hidden.payroll to authenticated`,
  })

  const messages = async (document: string, role: string): Promise<readonly string[]> => {
    const answer = await watched.watch(document, { role })
    if (answer.kind !== 'refused') return []
    const { errors = [] } = JSON.parse(answer.response.body.toString()) as Answer
    return errors.map(({ message, extensions: { code } }) => `${code}: ${message}`)
  }
  const reaching = (name: string): string =>
    `subscription { authorByPk(id: 1) { ${name}Collection { edges { node { id } } } } }`

  it.each(Object.entries(reasons))('by %s are named only to roles that may use them', async (name, sentence) => {
    expect(await messages(reaching(name), 'authenticated')).toEqual([`NOT_LIVE: ${sentence}`])
    expect(await messages(reaching(name), 'anon')).toEqual([
      'NOT_LIVE: The field reads something that cannot be watched.',
    ])
  })
  it('are said once, whatever their number, beside those that have a name', async () => {
    expect(await messages('subscription { authorByPk(id: 1) { author_tenant } }', 'anon')).toEqual([
      'NOT_LIVE: function public.author_tenant(public.author) cannot be watched: it depends on a setting.',
    ])
    await watched.db.query(`create policy q on by_table using (hidden.is_auditor() and hidden.tenant())`)
    expect(await messages(reaching('by_table'), 'anon')).toEqual([
      'NOT_LIVE: The field reads something that cannot be watched.',
    ])
    expect(await messages(reaching('by_table'), 'authenticated')).toEqual([
      `NOT_LIVE: ${[reasons.by_function, reasons.by_setting, reasons.by_table].join(' ')}`,
    ])
  })
  it('are all named in the remarks', async () => {
    const { diagnostics } = await createCompiler({
      query: (text, values) => watched.db.query(text, values),
      schemas: ['public'],
      version: null,
      triggers: allTriggers,
    }).compile()
    const remarks = JSON.stringify(diagnostics)
    for (const sentence of Object.values(reasons))
      expect(remarks).toContain(sentence.replace(/a setting\.$/, 'the setting app.secret_tenant.'))
  })
})

describe('failures of the database', () => {
  it('have the primary message and its SQLSTATE, no detail, hint, context, table or column', async () => {
    expect(await service.graphql('{ failing }')).toEqual({
      data: null,
      errors: [{ message: 'refused', extensions: { code: 'DATABASE_REFUSED', sqlstate: 'P0001' } }],
    })
  })
  it('hold no SQL and no stack, neither of the database nor of ours', async () => {
    for (const query of [
      '{ broken }',
      '{ failing }',
      '{',
      '{ accountByPk(id: 99999999999) { id } }',
      '{ node(nodeId: "?") { nodeId } }',
    ]) {
      const { body } = await service.serve(query)
      expect(body).not.toMatch(/select|insert into|\bat .*\.(ts|js):\d|node_modules|runtime\//i)
    }
  })
})
