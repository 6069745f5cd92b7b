import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messagesOf } from '../support/answers.ts'
import { createTestService, type TestService } from '../support/service.ts'

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

let service: TestService
beforeAll(async () => {
  service = await createTestService({ sql })
})
afterAll(() => service?.close())

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
  it.each(slips)('%s', async (query, hidden) => {
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

describe('hidden things look like absent ones', () => {
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
  it.each(alike)('%s', async (hidden, absent) => {
    const plain = (messages: readonly string[]) =>
      messages.map((message) =>
        message.replaceAll(/qqqqqq|salary|qqqqq|vault|qqqq|hush/gi, '*').replace(/ Did you mean.*$/, ''),
      )
    expect(plain(messagesOf(await service.graphql(hidden)))).toEqual(plain(messagesOf(await service.graphql(absent))))
  })
})

describe('failures of the database', () => {
  it('tell the primary message and its SQLSTATE, no detail, hint, context, table or column', async () => {
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
