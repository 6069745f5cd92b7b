import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { grantees, rolePrivileges } from '../../../compiler/catalog/privileges.ts'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import type { Grantees } from '../../../runtime/contract/manifest.ts'
import { catalogOf, relationNamed } from '../../support/catalog.ts'
import { createDatabase, majors, type TestDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

const seed = Number(process.env['FC_SEED'] ?? randomBytes(3).readUIntBE(0, 3))

/** Role 0 owns the objects; a place beyond the roles means a predefined role, or PUBLIC. */
interface Scene {
  readonly roles: readonly { readonly inherit: boolean; readonly superuser: boolean }[]
  readonly databaseOwner: number
  readonly memberships: readonly { readonly member: number; readonly group: number; readonly inherit: boolean }[]
  readonly changes: readonly { readonly grant: boolean; readonly what: number; readonly whom: number }[]
}

const count = 6
const predefined = ['pg_read_all_data', 'pg_write_all_data']

const scenes: fc.Arbitrary<Scene> = fc.record({
  roles: fc.array(fc.record({ inherit: fc.boolean(), superuser: fc.nat(12).map((n) => n === 0) }), {
    minLength: count,
    maxLength: count,
  }),
  databaseOwner: fc.nat(count - 1),
  memberships: fc.array(fc.record({ member: fc.nat(count - 1), group: fc.nat(count + 1), inherit: fc.boolean() }), {
    maxLength: 10,
  }),
  changes: fc.array(fc.record({ grant: fc.boolean(), what: fc.nat(100), whom: fc.nat(count + 2) }), { maxLength: 25 }),
})

const objects = [
  'select on s.t',
  'insert on s.t',
  'update on s.t',
  'delete on s.t',
  'select (a) on s.t',
  'update (a) on s.t',
  'insert (a) on s.t',
  'usage on schema s',
  'execute on function s.f()',
  'usage on type s.mood',
  'usage on type s.span',
]

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Memberships point from a lower to a higher place, so that they never form a circle. */
function statementsOf(scene: Scene, names: readonly string[], major: number): readonly string[] {
  const nameAt = (place: number): string => quoted([...names, ...predefined][place] ?? 'public')
  const grantee = (place: number): string =>
    place === count + 2 ? 'public' : place >= count ? 'pg_database_owner' : nameAt(place)
  return [
    ...scene.roles.map(
      (role, place) =>
        `create role ${nameAt(place)} ${role.inherit ? 'inherit' : 'noinherit'} ${role.superuser ? 'superuser' : ''}`,
    ),
    ...scene.memberships
      .filter(({ member, group }) => member < group)
      .map(({ member, group, inherit }) =>
        major < 16
          ? `grant ${nameAt(group)} to ${nameAt(member)}`
          : `grant ${nameAt(group)} to ${nameAt(member)} with inherit ${inherit}`,
      ),
    `do $$ begin execute format('alter database %I owner to %I', current_database(), ${literal(names[scene.databaseOwner] ?? '')}); end $$`,
    'create schema s; create table s.t (a int, b int)',
    `create function s.f() returns int language sql as 'select 1'`,
    `create type s.mood as enum ('x'); create type s.span as range (subtype = int)`,
    'create table s.u (mood s.mood, moods s.mood[], span s.span, spans s.span_multirange, many s.span_multirange[])',
    ...['schema s', 'table s.t', 'table s.u', 'function s.f()', 'type s.mood', 'type s.span'].map(
      (object) => `alter ${object} owner to ${nameAt(0)}`,
    ),
    ...scene.changes.map(({ grant, what, whom }) =>
      grant
        ? `grant ${objects[what % objects.length]} to ${grantee(whom)}`
        : `revoke ${objects[what % objects.length]} from ${grantee(whom)} cascade`,
    ),
  ]
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** A question to Postgres, and who we say may. */
type Question = readonly [sql: string, answer: Grantees]

function questionsOf(catalog: Catalog): readonly Question[] {
  const table = relationNamed(catalog, 't')

  const types = relationNamed(catalog, 'u').columns.map((column): Question => {
    const type = catalog.types.find((item) => item.oid === column.type)
    const sql = `has_type_privilege(r, ${literal(column.typeText)}, 'usage')`
    return [sql, grantees(type?.grants ?? [], 'USAGE', 'type')]
  })
  return [
    ...['SELECT', 'INSERT', 'UPDATE', 'DELETE'].map((word): Question => [
      `has_table_privilege(r, 's.t', '${word}')`,
      grantees(table.grants, word, 'relation'),
    ]),
    ...['SELECT', 'INSERT', 'UPDATE'].map((word): Question => [
      `has_column_privilege(r, 's.t', 'a', '${word}')`,
      [...grantees(table.grants, word, 'relation'), ...grantees(table.columns[0]?.grants ?? [], word, 'column')],
    ]),
    [`has_schema_privilege(r, 's', 'usage')`, grantees(catalog.schemas[0]?.grants ?? [], 'USAGE', 'schema')],
    [`has_schema_privilege(r, 's', 'create')`, grantees(catalog.schemas[0]?.grants ?? [], 'CREATE', 'schema')],
    [
      `has_function_privilege(r, 's.f()', 'execute')`,
      grantees(catalog.functions[0]?.grants ?? [], 'EXECUTE', 'function'),
    ],
    ...types,
  ]
}

async function compare(database: TestDatabase, names: readonly string[]): Promise<void> {
  const catalog = await catalogOf(database, ['s'])
  const roles = rolePrivileges(catalog)
  const questions = questionsOf(catalog)
  const asked = questions.map(([sql], place) => `${sql} as "${place}"`).join(', ')
  const { rows } = await database.query(`select r as role, ${asked} from unnest($1::name[]) r`, [names])
  const answers = rows.map(({ role, ...answer }: Record<string, unknown>) => [role, Object.values(answer)])
  const ours = names.map((name) => {
    const facts = roles[name]
    const holds = (who: Grantees): boolean =>
      facts?.superuser === true || who.some((grantee) => facts?.effective.includes(grantee))
    return [name, questions.map(([, who]) => holds(who))]
  })
  expect(ours).toEqual(answers)
}

/** Roles stay on the server, whose database `home` is. */
async function play(scene: Scene, home: TestDatabase): Promise<void> {
  const prefix = `cat_${randomBytes(4).toString('hex')}`
  const names = scene.roles.map((_role, place) => `${prefix} ${['a', '"b"', "c'", 'd,{}', 'é=', 'f\\'][place]}`)
  const database = await createDatabase({ beside: home, superuser: 'has superusers, and objects of several owners' })
  try {
    for (const statement of statementsOf(scene, names, home.major)) await database.query(statement)
    await compare(database, names)
  } finally {
    await database.drop()
  }
}

describe.each(majors().map((major) => [major] as const))('privileges on PostgreSQL %i', (major) => {
  const home = forSuite(createDatabase, { major, isolated: true })

  test(`every role holds what has_*_privilege says (FC_SEED=${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(scenes, (scene) => play(scene, home)),
      { seed, numRuns: 15, endOnFailure: true },
    )
  })

  test('an array has the privileges of its element, a multirange those of its range since 17', async () => {
    const roles = Array.from({ length: count }, () => ({ inherit: true, superuser: false }))
    const changes = objects.flatMap((object, what) =>
      object.startsWith('usage on type')
        ? [
            { grant: false, what, whom: count + 2 },
            { grant: true, what, whom: 3 },
          ]
        : [],
    )
    await play({ roles, databaseOwner: 0, memberships: [], changes }, home)
  })

  test('a database owner reaches what pg_database_owner may, as far as its role inherits', async () => {
    const roles = [true, false].flatMap((inherit) => [{ inherit, superuser: false }])
    for (const databaseOwner of [0, 1]) {
      const changes = [{ grant: true, what: 0, whom: count }]
      const filler = Array.from({ length: count - roles.length }, () => ({ inherit: true, superuser: false }))
      const memberships = [{ member: 0, group: 1, inherit: true }]
      await play({ roles: [...roles, ...filler], databaseOwner, memberships, changes }, home)
    }
  })
})

describe('role privileges', () => {
  const memberships = (...pairs: readonly (readonly [string, string, boolean])[]): Catalog['memberships'] =>
    pairs.map(([member, group, inherits]) => ({ member, group, inherits }))
  const role = (name: string): Catalog['roles'][number] => ({ name, superuser: false, inherit: true, bypassRls: false })

  test('a role is itself, public and every group that it inherits from, near or far, sorted', () => {
    const facts = rolePrivileges({
      serverVersion: 180004,
      databaseOwner: 'postgres',
      roles: ['app', '__proto__', 'group', 'top', 'other'].map(role),
      memberships: memberships(
        ['app', 'group', true],
        ['group', 'top', true],
        ['app', 'other', false],
        ['__proto__', 'app', true],
      ),
    })
    expect(facts['app']).toEqual({ superuser: false, effective: ['app', 'group', 'public', 'top'] })
    expect(Object.entries(facts).find(([name]) => name === '__proto__')?.[1].effective).toEqual([
      '__proto__',
      'app',
      'group',
      'public',
      'top',
    ])
    expect(facts['other']?.effective).toEqual(['other', 'public'])
  })

  test('before 16 an owner that does not inherit is not counted as pg_database_owner', () => {
    const owner = { ...role('own'), inherit: false }
    const at = (serverVersion: number): readonly string[] | undefined =>
      rolePrivileges({ serverVersion, databaseOwner: 'own', roles: [owner], memberships: [] })['own']?.effective
    expect(at(150018)).toEqual(['own', 'public'])
    expect(at(180004)).toEqual(['own', 'pg_database_owner', 'public'])
  })

  test('predefined roles stand beside the grants, once each and sorted', () => {
    const grants = [
      { grantee: 'z', privileges: ['SELECT'] },
      { grantee: 'a', privileges: ['INSERT', 'SELECT'] },
    ]
    expect(grantees(grants, 'SELECT', 'relation')).toEqual(['a', 'pg_read_all_data', 'z'])
    expect(grantees(grants, 'SELECT', 'column')).toEqual(['a', 'z'])
    expect(grantees(grants, 'DELETE', 'relation')).toEqual(['pg_write_all_data'])
    expect(grantees([], 'USAGE', 'schema')).toEqual(['pg_read_all_data', 'pg_write_all_data'])
    expect(grantees([], 'EXECUTE', 'function')).toEqual([])
  })
})
