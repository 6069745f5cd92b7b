import { describe, expect, it } from 'vitest'
import { counterOf } from '../../runtime/db/check/version.ts'
import { createEngine } from '../../compiler/additions/engine.ts'
import { messagesOf } from '../support/answers.ts'
import { introspect, namesOf } from '../support/api-schema.ts'
import { openAskedBothWays } from '../support/asked.ts'
import { forSuite } from '../support/for-suite.ts'
import { createRandom } from '../support/random.ts'

/**
 * Rights are decided as Postgres decides them (spec/graphql.md 1.4), by a service of compiled documents too. One server of
 * its own: roles are shared. Long form: npm run test:laws -- --changes 1000 [--seed S]
 */
const changeCount = Number(process.env['LAWS_CHANGES'] ?? '24')
const seed = Number(process.env['LAWS_SEED'] ?? Date.now() % 1_000_000)
const readShared = '{ sharedCollection { edges { node { id } } } }'

const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create role reader nologin;
  create role heir nologin inherit in role reader;
  create role distant_heir nologin inherit in role heir;
  create role stubborn nologin noinherit in role reader;
  create role owner_role nologin;
  create role owner_heir nologin inherit in role owner_role;
  create role boss nologin superuser;
  create role all_reader nologin inherit in role pg_read_all_data;
  create role all_writer nologin inherit in role pg_write_all_data;
  create role unreachable nologin;
  grant heir, distant_heir, stubborn, owner_role, owner_heir, boss, all_reader, all_writer to authenticator;
  create role team nologin;
  create role member nologin inherit in role team;
  create role guest nologin inherit;
  grant team, member, guest to authenticator;
  create table shared (id int primary key);
  insert into shared values (1);
  grant select on shared to team, guest;
  create table by_grant (id int primary key, body text);
  create table by_column (id int primary key, open text, closed text);
  create table by_public (id int primary key);
  create table owned (id int primary key);
  create table secret (id int primary key);
  create function for_reader() returns int stable language sql as 'select 1';
  revoke execute on function for_reader from public;
  insert into by_grant values (1, 'x');
  insert into by_public values (1);
  insert into secret values (1);
  grant usage on schema public to public;
  grant select, delete on by_grant to reader;
  grant select (id, open) on by_column to reader;
  grant select on by_public to public;
  grant execute on function for_reader to reader;
  alter table owned owner to owner_role;
`

const tables = async (role: string): Promise<readonly string[]> =>
  namesOf(await introspect(service, { role }), 'Query')
    .filter((name) => name.endsWith('Collection'))
    .map((name) => name.slice(0, -'Collection'.length))
const fields = async (role: string, type: string): Promise<readonly string[]> =>
  namesOf(await introspect(service, { role }), type)

const service = forSuite(
  openAskedBothWays,
  { sql, isolated: true, superuser: 'has superusers, and objects of several owners' },
  [readShared],
  ['member', 'guest'],
)

describe('a role', () => {
  const reads = ['by_column', 'by_grant', 'by_public']
  it.each([
    ['heir', reads],
    ['distant_heir', reads],
    ['stubborn', ['by_public']],
    ['anon', ['by_public']],
    ['owner_role', ['by_public', 'owned']],
    ['owner_heir', ['by_public', 'owned']],
    ['boss', ['by_column', 'by_grant', 'by_public', 'owned', 'secret', 'shared']],
    ['all_reader', ['by_column', 'by_grant', 'by_public', 'owned', 'secret', 'shared']],
    ['all_writer', ['by_public']],
  ])('sees what Postgres would let it do: %s', async (role, expected) => {
    expect(await tables(role)).toEqual(expected)
    for (const name of expected) {
      expect(await service.graphql(`{ ${name}Collection { edges { node { id } } } }`, { role })).toHaveProperty(
        `data.${name}Collection.edges`,
      )
    }
  })
  it.each([
    'heir',
    'distant_heir',
    'stubborn',
    'anon',
    'owner_heir',
    'boss',
    'all_reader',
    'all_writer',
    'authenticator',
  ])('%s counts for Postgres as what it counts for here', async (role) => {
    const revision = await service.revision()
    const { superuser, holders, held: those } = createEngine(revision).privileges(role)
    const held = (superuser ? 'on' : 'off') + holders.map((holder) => Number(those.has(holder))).join('')
    const ask = async (expected: string): Promise<unknown> => {
      await service.db.query(`set role ${role}`)
      const check = 'select catalograph.current($1, $2, $3) as right'
      const asked = service.db.query(check, [counterOf(revision.version ?? ''), holders, expected])
      return asked.then(({ rows: [row] }) => row.right).finally(() => service.db.query('reset role'))
    }
    expect(await ask(held)).toBe(true)
    const other = held.endsWith('1') ? '0' : '1'
    await expect(ask(held.slice(0, -1) + other)).rejects.toMatchObject({ code: 'CG001' })
  })
  it('columns, functions and mutations go by the same rule', async () => {
    expect(await fields('heir', 'by_column')).toEqual(['nodeId', 'id', 'open'])
    expect(await fields('boss', 'by_column')).toEqual(['nodeId', 'id', 'open', 'closed'])
    expect([
      (await fields('heir', 'Query')).includes('for_reader'),
      (await fields('stubborn', 'Query')).includes('for_reader'),
    ]).toEqual([true, false])
    expect(await fields('heir', 'Mutation')).toEqual(['deleteFromby_grantCollection'])
    expect(await fields('stubborn', 'Mutation')).toEqual([])
    expect(await fields('owner_heir', 'Mutation')).toEqual([
      'deleteFromownedCollection',
      'insertIntoownedCollection',
      'updateownedCollection',
    ])
  })
  it('none that the connecting role cannot become', async () => {
    for (const role of ['unreachable', 'no_such_role']) {
      const answer = await service.graphql('{ __typename }', { role })
      expect(messagesOf(answer)).toEqual(["The token's role cannot be assumed."])
      expect(answer.errors?.[0]?.extensions.code).toBe('ROLE_REFUSED')
    }
  })
})

describe('a change of roles is seen by the very next request', () => {
  const byGrant = '{ by_grantCollection { edges { node { id } } } }'
  const read = async (role: string) => (await service.graphql(byGrant, { role })).errors?.[0]?.message ?? 'read'

  it('a role that is created after the compile', async () => {
    await service.db.query('create role newcomer nologin inherit; grant newcomer to authenticator')
    expect(await tables('newcomer')).toEqual(['by_public'])
    await service.db.query('grant reader to newcomer')
    expect(await read('newcomer')).toBe('read')
    await service.db.query('revoke reader from newcomer')
    expect(await read('newcomer')).toMatch(/^Cannot query field "by_grantCollection"/)
    await service.db.query('revoke newcomer from authenticator; drop role newcomer')
    const gone = await service.graphql('{ __typename }', { role: 'newcomer' })
    expect(gone.errors?.[0]?.extensions.code).toBe('ROLE_REFUSED')
  })
  it('a grant, and what is taken back', async () => {
    expect(await read('anon')).toMatch(/^Cannot query field "by_grantCollection"/)
    await service.db.query('grant select on by_grant to anon')
    expect(await read('anon')).toBe('read')
    await service.db.query('revoke select on by_grant from anon')
    expect(await read('anon')).toMatch(/^Cannot query field "by_grantCollection"/)
    await service.db.query('grant select on by_grant to public')
    expect(await read('anon')).toBe('read')
    await service.db.query('revoke select on by_grant from public')
    expect(await read('anon')).toMatch(/^Cannot query field "by_grantCollection"/)
  })
  it('inheritance that is switched', async () => {
    const inherit =
      service.db.major >= 16 ? 'grant reader to stubborn with inherit true' : 'alter role stubborn inherit'
    await service.db.query(inherit)
    expect(await read('stubborn')).toBe('read')
    await service.db.query(
      service.db.major >= 16 ? 'grant reader to stubborn with inherit false' : 'alter role stubborn noinherit',
    )
    expect(await read('stubborn')).toMatch(/^Cannot query field "by_grantCollection"/)
  })
  it('superuser that is given and taken', async () => {
    await service.db.query('alter role boss nosuperuser')
    expect(await tables('boss')).toEqual(['by_public'])
    await service.db.query('alter role boss superuser')
    expect(await tables('boss')).toContain('secret')
  })
  it('an owner who changes has other rights at once', async () => {
    await service.db.query('alter table secret owner to owner_role')
    expect(await tables('owner_heir')).toEqual(['by_public', 'owned', 'secret'])
    await service.db.query('alter table secret owner to postgres')
    expect(await tables('owner_heir')).toEqual(['by_public', 'owned'])
  })
  it('a role that is renamed', async () => {
    await service.db.query('alter role heir rename to successor')
    expect(await tables('successor')).toEqual(['by_column', 'by_grant', 'by_public'])
    await service.db.query('alter role successor rename to heir')
    expect(await tables('heir')).toEqual(['by_column', 'by_grant', 'by_public'])
  })
})

describe('the first request after any change', () => {
  const changes = [
    ...['member', 'guest'].flatMap((role) => [`grant team to ${role}`, `revoke team from ${role}`]),
    ...['team', 'guest', 'public'].flatMap((role) => [
      `grant select on shared to ${role}`,
      `revoke select on shared from ${role}`,
    ]),
    ...['member', 'guest'].flatMap((role) => [`alter role ${role} inherit`, `alter role ${role} noinherit`]),
    ...['team', 'guest', 'postgres'].map((owner) => `alter table shared owner to ${owner}`),
    'alter role guest superuser',
    'alter role guest nosuperuser',
  ]
  /** By Postgres itself. */
  const mayRead = async (role: string): Promise<boolean> => {
    await service.db.query(`set role ${role}`)
    return service.db
      .query('select id from shared')
      .then(
        () => true,
        () => false,
      )
      .finally(() => service.db.query('reset role'))
  }

  it(
    `does what Postgres lets its role do, of a general service and of compiled documents (seed ${seed})`,
    { timeout: 60_000 + changeCount * 2_000 },
    async () => {
      const random = createRandom(seed)
      const told = new Set<string>()
      for (let count = 0; count < changeCount; count += 1) {
        const change = changes[random(changes.length)] ?? ''
        await service.db.query(change)
        for (const role of ['member', 'guest']) {
          const expected = await mayRead(role)
          for (const way of ['graphql', 'alone'] as const) {
            const answer = await service[way](readShared, { role })
            const read = answer.errors === undefined
            expect([change, role, way, read, read ? null : answer.errors?.[0]?.extensions.sqlstate]).toEqual([
              change,
              role,
              way,
              expected,
              expected ? null : way === 'alone' ? '42501' : undefined,
            ])
          }
          told.add(`${role} ${expected}`)
        }
      }
      if (changeCount > 100)
        expect([...told].toSorted()).toEqual(['guest false', 'guest true', 'member false', 'member true'])
    },
  )
})
