import { describe, expect, it } from 'vitest'
import type { CatalogForeignKey } from '../../../compiler/catalog/catalog.ts'
import { column, foreignKey, schema, table, view } from '../../support/catalog-literal.ts'
import { build, type Built } from './build.ts'

const id = column('id', 'int4', { notNull: true })
const inflected = [schema('public', '@graphql({"inflect_names": true})')]

/** A child with these columns and keys beside a parent `account_holder`. */
const family = (
  columns: readonly string[],
  keys: readonly CatalogForeignKey[],
  over: Parameters<typeof table>[2] = {},
  schemas = inflected,
): Built =>
  build({
    schemas,
    relations: [
      table('account_holder', [id, column('code', 'text')]),
      table('post', [id, ...columns.map((name) => column(name))], { foreignKeys: keys, ...over }),
    ],
  })

const fields = (built: Built, relation: string) => built.entity(relation).relations.map((item) => item.field)

describe('2.3 names of relations', () => {
  it('a column named exactly like the suffix loses its field, and that is reported', () => {
    const built = family(['_id'], [foreignKey(['_id'], 'account_holder', { name: 'k' })])
    expect(fields(built, 'post')).toEqual([])
    expect(fields(built, 'account_holder')).toEqual(['postCollection'])
    expect(built.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'name-unusable', object: 'constraint k on public.post' }),
    )
  })
})

describe('2.4 two relations of one name', () => {
  it('are reported; both stay in the order in which the last wins', () => {
    const keys = [foreignKey(['a_id'], 'account_holder'), foreignKey(['b_id'], 'account_holder')]
    const built = family(['a_id', 'b_id'], keys)
    expect(fields(built, 'account_holder')).toEqual(['postCollection', 'postCollection'])
    expect(built.diagnostics).toMatchObject([
      {
        code: 'field-taken',
        object: 'relation of table public.account_holder (id) from public.post (a_id)',
        message: expect.stringContaining(
          'gives way to relation of table public.account_holder (id) from public.post (b_id).',
        ),
      },
    ])
  })
})

describe('8 relations', () => {
  it('8.2 join all columns, pairwise', () => {
    const built = family(
      ['x', 'y'],
      [foreignKey(['x', 'y'], 'account_holder', { name: 'k', foreignColumns: ['id', 'code'] })],
    )
    expect(built.relation('post', 'accountHolder')).toEqual({
      field: 'accountHolder',
      shape: 'one',
      direction: 'forward',
      target: '["public","account_holder"]',
      local: ['x', 'y'],
      foreign: ['id', 'code'],
      notNull: false,
      unique: true,
    })
    expect(built.relation('account_holder', 'postCollection')).toEqual({
      field: 'postCollection',
      shape: 'many',
      direction: 'reverse',
      target: '["public","post"]',
      local: ['id', 'code'],
      foreign: ['x', 'y'],
      notNull: false,
      unique: false,
    })
  })

  it('8.3 are to-one backwards when a unique key lies within the columns', () => {
    const shape = (over: Parameters<typeof table>[2]) =>
      family(['x', 'y'], [foreignKey(['x', 'y'], 'account_holder', { foreignColumns: ['id', 'code'] })], over).entity(
        'account_holder',
      ).relations[0]?.shape
    expect(shape({})).toBe('many')
    expect(shape({ uniques: [['x', 'y']] })).toBe('one')
    expect(shape({ uniques: [['y']] })).toBe('one')
    expect(shape({ uniques: [['x', 'id']] })).toBe('many')
    expect(shape({ uniques: [[]] })).toBe('many')
    expect(shape({ primaryKey: ['x'] })).toBe('one')
  })

  it('stand in the order of the constraints, whichever table they are on', () => {
    const late = foreignKey(['p'], 'parent', { oid: '200' })
    const early = foreignKey(['p'], 'parent', { oid: '99' })
    const built = build({
      relations: [
        table('parent', [id]),
        table('a', [id, column('p')], { foreignKeys: [late] }),
        table('b', [id, column('p')], { foreignKeys: [early] }),
      ],
    })
    expect(fields(built, 'parent')).toEqual(['bCollection', 'aCollection'])
  })
})

describe('13.2 foreign keys by comment', () => {
  const key = {
    local_columns: ['holder_id'],
    foreign_schema: 'public',
    foreign_table: 'account_holder',
    foreign_columns: ['id'],
  }
  const declared = (entries: readonly object[], over: Parameters<typeof table>[2] = {}, notNull = false) =>
    build({
      schemas: inflected,
      relations: [
        table('account_holder', [id, column('code')]),
        view('overview', [column('holder_id', 'int4', { notNull })], {
          comment: `@graphql(${JSON.stringify({ primary_key_columns: ['holder_id'], foreign_keys: entries })})`,
          ...over,
        }),
      ],
    })

  it.each([
    { ...key, foreign_table: 'nope' },
    { ...key, foreign_schema: 'nope' },
    { ...key, foreign_columns: ['nope'] },
    { ...key, local_columns: ['nope'] },
    { ...key, foreign_columns: ['id', 'code'] },
    { ...key, local_columns: [], foreign_columns: [] },
  ])('skip an entry that names what does not exist, and report it: %o', (entry) => {
    const built = declared([entry, key])
    expect(fields(built, 'overview')).toEqual(['holder'])
    expect(built.diagnostics).toMatchObject([{ code: 'foreign-key-unknown', object: 'view public.overview' }])
  })

  it('stand behind the constraints', () => {
    const built = build({
      relations: [
        table('a', [id, column('x')], {
          foreignKeys: [
            foreignKey(['x'], 'a', { comment: '@graphql({"foreign_name": "second", "local_name": "r2"})' }),
          ],
          comment:
            '@graphql({"foreign_keys": [{"local_columns": ["x"], "foreign_schema": "public", "foreign_table": "a", ' +
            '"foreign_columns": ["id"], "foreign_name": "third", "local_name": "r3"}]})',
        }),
      ],
    })
    expect(fields(built, 'a')).toEqual(['second', 'third', 'r2', 'r3'])
  })
})
