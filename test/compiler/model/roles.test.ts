import { printSchema } from 'graphql'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rolePrivileges } from '../../../compiler/catalog/privileges.ts'
import type { Catalog, CatalogGrant } from '../../../compiler/catalog/catalog.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import { buildView } from '../../../compiler/additions/engine.ts'
import { argument, catalog, column, enumType, fn, foreignKey, schema, table } from '../../support/catalog-literal.ts'
import { sized } from '../../support/whole.ts'
import { buildFrom } from './build.ts'

const role = (name: string, superuser = false): Catalog['roles'][number] => ({
  name,
  superuser,
  inherit: true,
  bypassRls: false,
})
const inherits = (member: string, group: string) => ({ member, group, inherits: true })
const to = (grantee: string, ...privileges: readonly string[]): CatalogGrant => ({ grantee, privileges })

const rolesOf = (over: Partial<Catalog>): Manifest['roles'] => buildFrom(catalog(over)).manifest.roles

describe('1.4 the roles of a manifest', () => {
  it('are none where no role inherits and none is a superuser', () => {
    const roles = [role('anon'), role('authenticated'), role('pg_monitor'), role('pg_read_all_stats')]
    expect(rolesOf({ roles, memberships: [inherits('pg_monitor', 'pg_read_all_stats')] })).toEqual({})
  })

  it('are superusers, whatever they inherit', () => {
    const roles = [role('postgres', true), role('anon')]
    expect(rolesOf({ roles, memberships: [inherits('postgres', 'anon')] })).toEqual({
      postgres: { superuser: true, effective: ['postgres', 'public'] },
    })
  })

  it('are those that inherit, also at second hand, from a holder of something', () => {
    const roles = ['staff', 'editors', 'club', 'member'].map((name) => role(name))
    const memberships = [inherits('staff', 'editors'), inherits('staff', 'club'), inherits('club', 'member')]
    const grants = [to('editors', 'SELECT'), to('member', 'SELECT'), to('staff', 'SELECT')]
    expect(rolesOf({ roles, memberships, relations: [table('t', undefined, { grants })] })).toEqual({
      staff: { superuser: false, effective: ['editors', 'member', 'public', 'staff'] },
      club: { superuser: false, effective: ['club', 'member', 'public'] },
    })
  })

  it('count what Postgres lets its own roles do', () => {
    const roles = [role('reader'), role('pg_read_all_data')]
    const given = { roles, memberships: [inherits('reader', 'pg_read_all_data')] }
    expect(rolesOf(given)).toEqual({
      reader: { superuser: false, effective: ['pg_read_all_data', 'public', 'reader'] },
    })
  })

  it.each<[string, Partial<Catalog>]>([
    ['a schema', { schemas: [schema('public', null, { grants: [to('holder', 'USAGE')] })] }],
    ['a table', { relations: [table('t', undefined, { grants: [to('holder', 'DELETE')] })] }],
    ['a column', { relations: [table('t', [column('id', 'int4', { grants: [to('holder', 'UPDATE')] })])] }],
    ['an enum', { types: [enumType('mood', ['ok'], null, { grants: [to('holder', 'USAGE')] })] }],
    ['a function', { functions: [fn('f', [], 'int4', { grants: [to('holder', 'EXECUTE')] })] }],
    [
      'a computed field',
      {
        relations: [table('t')],
        functions: [fn('f', [argument('', 'row:t')], 'int4', { grants: [to('holder', 'EXECUTE')] })],
      },
    ],
  ])('include the holders of %s', (_, over) => {
    const given = { roles: [role('heir'), role('holder')], memberships: [inherits('heir', 'holder')] }
    expect(Object.keys(rolesOf({ ...given, ...over }))).toEqual(['heir'])
  })
})

/** Names of roles that an object without care would find or lose, and one of Postgres' own. */
const names = ['anon', 'staff', '__proto__', 'constructor', 'pg_monitor', 'root'] as const
const grantee = fc.constantFrom(...names, 'public', 'pg_read_all_data')

const grants = (...privileges: readonly string[]): fc.Arbitrary<readonly CatalogGrant[]> =>
  fc.array(fc.record({ grantee, privileges: fc.subarray([...privileges], { minLength: 1 }) }), { maxLength: 1 })
const ofTable = grants('SELECT', 'INSERT', 'UPDATE', 'DELETE')
const ofColumn = grants('SELECT', 'INSERT', 'UPDATE')

const catalogs: fc.Arbitrary<Catalog> = fc
  .record({
    roles: fc.array(fc.nat(5), { minLength: names.length, maxLength: names.length }),
    memberships: fc.array(fc.record({ member: grantee, group: grantee, inherits: fc.boolean() }), { maxLength: 8 }),
    schema: fc.oneof(fc.constant([to('public', 'USAGE')]), grants('USAGE')),
    tables: fc.tuple(ofTable, ofTable),
    columns: fc.tuple(ofColumn, ofColumn),
    mood: grants('USAGE'),
    calls: fc.tuple(grants('EXECUTE'), grants('EXECUTE')),
  })
  .map((drawn) => {
    const mood = enumType('mood', ['ok'], null, { grants: drawn.mood })
    const columns = [
      column('id', 'int4', { grants: drawn.columns[0] }),
      column('mood', 'mood', { grants: drawn.columns[1] }),
    ]
    const foreignKeys = [foreignKey(['a_id'], 'a')]
    return catalog({
      roles: [...names, 'pg_read_all_data'].map((name, index) => role(name, drawn.roles[index] === 0)),
      memberships: drawn.memberships,
      schemas: [schema('public', '@graphql({"introspection": true})', { grants: drawn.schema })],
      relations: [
        table('a', columns, { grants: drawn.tables[0] }),
        table('b', [column('id'), column('a_id')], { grants: drawn.tables[1], foreignKeys }),
      ],
      types: [mood],
      functions: [
        fn('f', [], 'int4', { grants: drawn.calls[0] }),
        fn('g', [argument('', 'row:a')], 'int4', { grants: drawn.calls[1] }),
      ],
    })
  })

const seed = Number(process.env['FC_SEED'] ?? Date.now() % 1_000_000)

describe(`leaving roles out (FC_SEED=${seed})`, () => {
  it('changes the schema of no role, known or not', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(catalogs, (given) => {
        const { manifest } = buildFrom(given)
        const whole = { ...manifest, roles: rolePrivileges(given) }
        for (const name of [...names, 'pg_read_all_data', 'made_since']) {
          const printed = (of: Manifest): string => printSchema(buildView(of, name).complete())
          expect(printed(manifest), name).toBe(printed(whole))
        }
      }),
      { seed, numRuns: sized(150, 50) },
    )
  })
})
