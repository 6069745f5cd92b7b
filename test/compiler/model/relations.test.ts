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
  it('forward: the column without its suffix, else the parent', () => {
    expect(fields(family(['author_id'], [foreignKey(['author_id'], 'account_holder')]), 'post')).toEqual(['author'])
    expect(fields(family(['author'], [foreignKey(['author'], 'account_holder')]), 'post')).toEqual(['accountHolder'])
  })

  it('the suffix is Id where the target does not inflect', () => {
    const raw = [schema('public')]
    const built = (name: string) => fields(family([name], [foreignKey([name], 'account_holder')], {}, raw), 'post')
    expect(built('authorId')).toEqual(['author'])
    expect(built('author_id')).toEqual(['account_holder'])
  })

  it('the schema of the target decides', () => {
    const built = build({
      schemas: [schema('public', '@graphql({"inflect_names": true})'), schema('raw')],
      relations: [
        table('holder', [id]),
        table('post', [id, column('author_id')], { schema: 'raw', foreignKeys: [foreignKey(['author_id'], 'holder')] }),
      ],
    })
    expect(fields(built, 'post')).toEqual(['author'])
    expect(fields(built, 'holder')).toEqual(['postCollection'])
  })

  it('reverse: a collection of the child', () => {
    expect(fields(family(['author_id'], [foreignKey(['author_id'], 'account_holder')]), 'account_holder')).toEqual([
      'postCollection',
    ])
  })

  it('reverse and one-to-one: the same rule on the referenced column of the parent', () => {
    const built = build({
      schemas: inflected,
      relations: [
        table('account', [column('account_id')], { primaryKey: ['account_id'] }),
        table('address', [id, column('account_id')], {
          uniques: [['account_id']],
          foreignKeys: [foreignKey(['account_id'], 'account', { foreignColumns: ['account_id'] })],
        }),
      ],
    })
    expect(fields(built, 'account')).toEqual(['account'])
    const byId = family(['author_id'], [foreignKey(['author_id'], 'account_holder')], { uniques: [['author_id']] })
    expect(fields(byId, 'account_holder')).toEqual(['post'])
  })

  it('foreign_name and local_name count as they stand; name is another word for foreign_name and loses to it', () => {
    const on = (json: string) =>
      family(['a_id'], [foreignKey(['a_id'], 'account_holder', { comment: `@graphql(${json})` })])
    const both = on('{"foreign_name": "Writer", "local_name": "Works", "name": "x"}')
    expect([...fields(both, 'post'), ...fields(both, 'account_holder')]).toEqual(['Writer', 'Works'])
    expect(fields(on('{"name": "x"}'), 'post')).toEqual(['x'])
  })

  it('a column named exactly like the suffix loses its field, and that is told', () => {
    const built = family(['_id'], [foreignKey(['_id'], 'account_holder', { name: 'k' })])
    expect(fields(built, 'post')).toEqual([])
    expect(fields(built, 'account_holder')).toEqual(['postCollection'])
    expect(built.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'name-unusable', object: 'constraint k on public.post' }),
    )
  })
})

describe('2.4 two relations of one name', () => {
  it('are told; both stay in the order in which the last wins', () => {
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

  it('are told apart by comments', () => {
    const key = (name: string) =>
      foreignKey([`${name}_id`], 'account_holder', { comment: `@graphql({"local_name": "${name}Posts"})` })
    const built = family(['a_id', 'b_id'], [key('a'), key('b')])
    expect(fields(built, 'account_holder')).toEqual(['aPosts', 'bPosts'])
    expect(built.codes).toEqual([])
  })
})

describe('8 relations', () => {
  it('8.1 need both relations in the manifest and a key on the target', () => {
    const keys = [
      foreignKey(['a_id'], 'nowhere'),
      foreignKey(['a_id'], 'account_holder', { foreignSchema: 'elsewhere' }),
    ]
    expect(fields(family(['a_id'], keys), 'post')).toEqual([])
    const keyless = family(['a_id'], [foreignKey(['a_id'], 'account_holder')], { primaryKey: null })
    expect(fields(keyless, 'post')).toEqual(['a'])
    expect(fields(keyless, 'account_holder')).toEqual([])
    const toKeyless = build({
      relations: [
        table('parent', [column('code')], { uniques: [['code']] }),
        table('child', [id, column('code')], {
          foreignKeys: [foreignKey(['code'], 'parent', { foreignColumns: ['code'] })],
        }),
      ],
    })
    expect(fields(toKeyless, 'child')).toEqual([])
    expect(fields(toKeyless, 'parent')).toEqual(['childCollection'])
  })

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

  it('8.4 are NonNull forwards when all columns are NOT NULL and the parent has no row-level security', () => {
    const notNull = (
      child: Parameters<typeof table>[2],
      parent: Parameters<typeof table>[2],
      { guaranteed = true, x = true, y = true } = {},
    ) =>
      build({
        relations: [
          table('parent', [id, column('code')], parent),
          table('child', [id, column('x', 'int4', { notNull: x }), column('y', 'int4', { notNull: y })], {
            foreignKeys: [foreignKey(['x', 'y'], 'parent', { foreignColumns: ['id', 'code'], guaranteed })],
            ...child,
          }),
        ],
      }).relation('child', 'parent').notNull
    expect(notNull({}, {})).toBe(true)
    expect(notNull({}, {}, { x: false })).toBe(false)
    expect(notNull({}, {}, { y: false })).toBe(false)
    expect(notNull({ rowSecurity: true }, {})).toBe(true)
    expect(notNull({}, { rowSecurity: true })).toBe(false)
    expect(notNull({}, {}, { guaranteed: false })).toBe(false)
    const nullable = family(['a_id'], [foreignKey(['a_id'], 'account_holder')])
    expect(nullable.relation('post', 'a').notNull).toBe(false)
    expect(nullable.relation('account_holder', 'postCollection').notNull).toBe(false)
  })

  it('8.5 to the same relation stand on one type, forward then reverse', () => {
    const built = build({
      relations: [table('account', [id, column('parentId')], { foreignKeys: [foreignKey(['parentId'], 'account')] })],
    })
    expect(fields(built, 'account')).toEqual(['parent', 'accountCollection'])
    const directions = built.entity('account').relations.map((item) => item.direction)
    expect(directions).toEqual(['forward', 'reverse'])
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

  it('keep the columns they join in the manifest, even those without a field', () => {
    const built = family(['1_id'], [foreignKey(['1_id'], 'account_holder', { foreignColumns: ['code'] })], {
      primaryKey: null,
    })
    expect(built.column('post', '1_id').field).toBeNull()
    expect(built.column('account_holder', 'code').field).toBe('code')
  })
})

describe('1.2 keys that refer to a partitioned table', () => {
  const partitioned = (columns: readonly string[], foreignColumns: readonly string[]) => {
    const whole = foreignKey(columns, 'event', { name: 'whole', foreignColumns })
    const share = foreignKey(columns, 'event_1', { name: 'share', foreignColumns, guaranteed: false })
    return build({
      schemas: inflected,
      relations: [
        table('event', [id, column('day')], { kind: 'p' }),
        table('event_1', [id, column('day')]),
        table('note', [id, ...columns.map((name) => column(name, 'int4', { notNull: true }))], {
          foreignKeys: [whole, share],
        }),
      ],
    })
  }

  it('lead to the whole table under the one name, and never promise a row of one partition', () => {
    const built = partitioned(['event_id'], ['id'])
    expect(built.entity('note').relations.map((item) => [item.field, item.target, item.notNull])).toEqual([
      ['event', '["public","event"]', true],
    ])
    expect(fields(built, 'event_1')).toEqual(['noteCollection'])
    expect(built.codes).toEqual([])
  })

  it('lead to the partitions too where the names differ', () => {
    const built = partitioned(['event_id', 'event_day'], ['id', 'day'])
    expect(built.entity('note').relations.map((item) => [item.field, item.notNull])).toEqual([
      ['event', true],
      ['event1', false],
    ])
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

  it('make relations as constraints do', () => {
    const built = declared([key])
    expect(built.relation('overview', 'holder')).toMatchObject({ local: ['holder_id'], unique: true, notNull: false })
    expect(built.relation('account_holder', 'overviewCollection')).toMatchObject({
      foreign: ['holder_id'],
      shape: 'many',
    })
  })

  it('take both names from the entry', () => {
    const built = declared([{ ...key, local_name: 'views', foreign_name: 'owner' }])
    expect([...fields(built, 'overview'), ...fields(built, 'account_holder')]).toEqual(['owner', 'views'])
  })

  it('take the first row where the foreign columns are not unique', () => {
    const built = declared([{ ...key, foreign_columns: ['code'] }])
    expect(built.relation('overview', 'holder').unique).toBe(false)
  })

  it('8.7 are to-one backwards only where the local relation has a unique index', () => {
    expect(
      declared([key], { kind: 'm', uniques: [['holder_id']] }).entity('account_holder').relations[0],
    ).toMatchObject({
      field: 'overview',
      shape: 'one',
    })
  })

  it('8.4 are nullable, whatever the columns are', () => {
    expect(declared([key], { kind: 'r' }, true).relation('overview', 'holder').notNull).toBe(false)
  })

  it.each([
    { ...key, foreign_table: 'nope' },
    { ...key, foreign_schema: 'nope' },
    { ...key, foreign_columns: ['nope'] },
    { ...key, local_columns: ['nope'] },
    { ...key, foreign_columns: ['id', 'code'] },
    { ...key, local_columns: [], foreign_columns: [] },
  ])('skip an entry that names what does not exist, and tell: %o', (entry) => {
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
