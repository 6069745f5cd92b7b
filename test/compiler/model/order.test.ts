import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import type { Catalog } from '../../../compiler/catalog/catalog.ts'
import { dump } from '../../../compiler/catalog/diagnostics/dump.ts'
import {
  argument,
  arrayOf,
  catalog,
  column,
  enumType,
  fn,
  foreignKey,
  schema,
  table,
  view,
} from '../../support/catalog-literal.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

const id = column('id', 'int4', { notNull: true })
const grant = (grantee: string, ...privileges: readonly string[]) => ({ grantee, privileges })
const mood = enumType('mood', ['sad', 'ok'], '@graphql({"mappings": {"ok": "OK"}})')

const given = catalog({
  schemas: [schema('public', '@graphql({"inflect_names": true})'), schema('app')],
  roles: ['anon', 'authenticated', 'staff', 'postgres'].map((name) => ({
    name,
    superuser: name === 'postgres',
    inherit: true,
    bypassRls: false,
  })),
  memberships: [
    { member: 'staff', group: 'authenticated', inherits: true },
    { member: 'authenticated', group: 'anon', inherits: true },
  ],
  relations: [
    table('users', [id, column('mood', 'mood'), column('moods', '_mood')], {
      uniques: [['mood'], ['id', 'mood']],
      grants: [grant('anon', 'SELECT', 'INSERT'), grant('staff', 'SELECT', 'DELETE')],
    }),
    table('posts', [id, column('author_id'), column('editor_id')], {
      uniques: [['editor_id'], ['author_id', 'editor_id']],
      foreignKeys: [foreignKey(['author_id'], 'users'), foreignKey(['editor_id'], 'users')],
    }),
    table('users', [id], { schema: 'app', comment: '@graphql({"max_rows": "x"})' }),
    table('things', [id], { schema: 'app', comment: '@graphql({"description": 1})' }),
    view('v', [column('a'), column('b')], {
      comment:
        '@graphql({"primary_key_columns": ["b"], "foreign_keys": [{"local_columns": ["a"], "foreign_schema": "public", ' +
        '"foreign_table": "users", "foreign_columns": ["id"]}]})',
    }),
  ],
  types: [mood, arrayOf(mood), enumType('tone', ['x'], null, { schema: 'app' })],
  functions: [
    fn('title', [argument('', 'row:posts')], 'text'),
    fn('_title', [argument('', 'row:posts')], 'text'),
    fn('search', [argument('q', 'text')], 'row:posts', { returnsSet: true }),
    fn('twice', [argument('a')]),
    fn('twice', [argument('a', 'text')]),
    fn('f', [], 'int4', { schema: 'app' }),
  ],
})

const shuffled = <T>(list: readonly T[]): fc.Arbitrary<readonly T[]> =>
  fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length })

/** The Catalog with every list shuffled whose order means nothing. */
const permuted: fc.Arbitrary<Catalog> = fc
  .record({
    relations: shuffled(given.relations),
    functions: shuffled(given.functions),
    types: shuffled(given.types),
    roles: shuffled(given.roles),
    memberships: shuffled(given.memberships),
    flip: fc.boolean(),
  })
  .map(({ flip, relations, ...lists }) => ({
    ...given,
    ...lists,
    relations: relations.map((relation) => (flip ? flipped(relation) : relation)),
  }))

const flipped = (relation: Catalog['relations'][number]): Catalog['relations'][number] => ({
  ...relation,
  uniques: relation.uniques.map((unique) => unique.toReversed()).toReversed(),
  grants: relation.grants
    .map(({ grantee, privileges }) => ({ grantee, privileges: privileges.toReversed() }))
    .toReversed(),
})

const modelText = (from: Catalog): string => dump(atOnce(buildModel(atOnce(annotate(from)).annotated)).model)

describe('order independence', () => {
  const expected = modelText(given)

  it('law: a permuted Catalog gives the same Model (seed 7)', () => {
    fc.assert(
      fc.property(permuted, (other) => {
        expect(modelText(other)).toBe(expected)
      }),
      { seed: 7, numRuns: 50 },
    )
  })

  it('holds for a Model that says something', () => {
    expect(expected).toContain('"name": "Posts"')
    expect(expected).toContain('invalid input syntax for type integer')
  })
})
