import { describe, expect, it } from 'vitest'
import { column, everybody, schema, table, view } from '../../support/catalog-literal.ts'
import { build } from './build.ts'

const id = column('id', 'int4', { notNull: true })

describe('1.1 served schemas', () => {
  it('stand in the order of precedence, and so do their relations; names are in byte order', () => {
    const { manifest } = build({
      schemas: [schema('b'), schema('a')],
      relations: [
        table('x', [id], { schema: 'a' }),
        table('\u{1F600}y', [id], { schema: 'b', comment: '@graphql({"name": "astral"})' }),
        table('\uFFFDy', [id], { schema: 'b', comment: '@graphql({"name": "replacement"})' }),
        table('Z', [id], { schema: 'b' }),
        table('a', [id], { schema: 'b' }),
      ],
    })
    expect(manifest.schemas.map((item) => item.name)).toEqual(['b', 'a'])
    expect(manifest.entities.map((item) => item.name)).toEqual(['Z', 'a', 'replacement', 'astral', 'x'])
  })

  it('say who may use them and whether they are introspected', () => {
    const { manifest } = build({
      schemas: [
        schema('public', '@graphql({"introspection": true})', { grants: [{ grantee: 'anon', privileges: ['USAGE'] }] }),
      ],
    })
    expect(manifest.schemas[0]).toMatchObject({ name: 'public', introspection: true })
    expect(manifest.schemas[0]?.usage).toContain('anon')
  })
})

describe('1.2 relations', () => {
  it.each([
    ['r', 'table'],
    ['p', 'table'],
    ['v', 'view'],
    ['m', 'materialized view'],
    ['f', 'foreign table'],
  ] as const)('of kind %s are %s', (kind, expected) => {
    expect(build({ relations: [table('t', [id], { kind })] }).entity('t').kind).toBe(expected)
  })

  it('without a valid base name are left out and told', () => {
    const { manifest, diagnostics } = build({ relations: [table('2nd', [id])] })
    expect(manifest.entities).toEqual([])
    expect(diagnostics).toMatchObject([{ code: 'name-unusable', object: 'table public."2nd"' }])
  })

  it('take the real key, in the order of the Catalog', () => {
    const built = build({ relations: [table('t', [column('b'), column('c')], { primaryKey: ['b', 'c'] })] })
    expect(built.entity('t').key).toEqual(['b', 'c'])
  })

  it('take the key of the comment, in its order, where there is no real one', () => {
    const comment = '@graphql({"primary_key_columns": ["c", "b", "c"]})'
    const built = build({ relations: [view('v', [column('b'), column('c')], { comment })] })
    expect(built.entity('v').key).toEqual(['c', 'b'])
    expect(built.codes).toEqual([])
  })

  it('let a real key go before the comment', () => {
    const comment = '@graphql({"primary_key_columns": ["b"]})'
    const built = build({ relations: [table('t', [id, column('b')], { comment })] })
    expect(built.entity('t').key).toEqual(['id'])
    expect(built.codes).toEqual(['key-ignored'])
  })

  it('have a remark where tables inherit from theirs, for whose rows the key does not hold', () => {
    const built = build({ relations: [table('t', [id], { identifying: [] }), table('u', [id])] })
    expect(built.diagnostics.map(({ code, object }) => [code, object])).toEqual([['key-inherited', 'table public.t']])
  })

  it('have no key when the comment names one unknown column', () => {
    const comment = '@graphql({"primary_key_columns": ["b", "nope"]})'
    const built = build({ relations: [view('v', [column('b')], { comment })] })
    expect(built.entity('v').key).toEqual([])
    expect(built.codes).toEqual(['key-column-unknown'])
  })

  it('without a key stay in the manifest, and are told', () => {
    const built = build({ relations: [view('v', [column('b')]), table('t', [column('b')])] })
    expect(built.entity('v').key).toEqual([])
    expect(built.diagnostics.map(({ code, object }) => [code, object])).toEqual([
      ['no-key', 'table public.t'],
      ['no-key', 'view public.v'],
    ])
  })
})

describe('1.3 columns', () => {
  it('keep the order of attribute numbers and say whether they are NOT NULL', () => {
    const built = build({ relations: [table('t', [id, column('z'), column('a', 'text', { notNull: true })])] })
    expect(built.entity('t').columns.map((item) => [item.field, item.notNull])).toEqual([
      ['id', true],
      ['z', false],
      ['a', true],
    ])
  })

  it('of views and materialized views are nullable', () => {
    const columns = [column('a', 'int4', { notNull: true })]
    const built = build({
      relations: [view('v', columns), view('m', columns, { kind: 'm' }), view('f', columns, { kind: 'f' })],
    })
    expect(built.column('v', 'a').notNull).toBe(false)
    expect(built.column('m', 'a').notNull).toBe(false)
    expect(built.column('f', 'a').notNull).toBe(true)
    expect(built.model.entities.find(({ id }) => id === '["public","v"]')?.columns[0]?.notNull).toBe(false)
  })

  it('without a valid name are left out and told, but stay when the key needs them', () => {
    const built = build({ relations: [table('t', [column('1'), column('2')], { primaryKey: ['1'] })] })
    expect(built.entity('t').columns).toMatchObject([
      { column: '1', field: null, filter: false, order: false, input: false },
    ])
    expect(built.diagnostics.map((diagnostic) => diagnostic.object)).toEqual([
      'column public.t."1"',
      'column public.t."2"',
    ])
    expect(built.model.entities.find(({ id }) => id === '["public","t"]')?.columns.map((item) => item.column)).toEqual([
      '1',
      '2',
    ])
  })

  it('bear the name of their comment', () => {
    const named = column('a', 'int4', { comment: '@graphql({"name": "B"})' })
    expect(build({ relations: [table('t', [named])] }).column('t', 'a').field).toBe('B')
  })
})

describe('1.4 grants', () => {
  it('are kept for tables and columns apart', () => {
    const built = build({
      relations: [
        table('t', [column('id', 'int4', { grants: [{ grantee: 'anon', privileges: ['SELECT', 'UPDATE'] }] })], {
          grants: [{ grantee: 'writer', privileges: ['INSERT', 'DELETE'] }],
        }),
      ],
    })
    const { grants, columns } = built.entity('t')
    expect(grants.select).not.toContain('writer')
    expect(grants.insert).toContain('writer')
    expect(grants.update).not.toContain('writer')
    expect(grants.delete).toContain('writer')
    expect(columns[0]?.grants.select).toContain('anon')
    expect(columns[0]?.grants.insert).not.toContain('anon')
    expect(columns[0]?.grants.update).toContain('anon')
  })
})

describe('13.2 settings of relations', () => {
  it('max_rows: the table goes before its schema, else it is 30 (5.3)', () => {
    const own = table('own', [id], { comment: '@graphql({"max_rows": 5})' })
    const none = table('none', [id], { comment: '@graphql({"max_rows": 0})' })
    const plain = table('plain', [id])
    const relations = [own, plain, none]
    const set = build({ schemas: [schema('public', '@graphql({"max_rows": 7})')], relations })
    expect([set.entity('own').maxRows, set.entity('plain').maxRows, set.entity('none').maxRows]).toEqual([5, 7, 0])
    expect(build({ relations }).entity('plain').maxRows).toBe(30)
  })

  it('totalCount, aggregate, root, name and description', () => {
    const comment =
      'Rows. @graphql({"name": "T", "totalCount": {"enabled": true}, "aggregate": {"enabled": true}, "root": {"enabled": false}})'
    const built = build({ relations: [table('t', [id], { comment })] })
    expect(built.entity('t')).toMatchObject({
      name: 'T',
      totalCount: true,
      aggregate: true,
      root: false,
      description: 'Rows.',
    })
    expect(build({ relations: [table('t')] }).entity('t')).toMatchObject({
      name: 't',
      totalCount: false,
      aggregate: false,
      root: true,
      description: null,
    })
  })

  it('one schema is enough to switch validation off (17)', () => {
    const off = schema('b', '@graphql({"validation": {"enabled": false}})')
    expect(build({ schemas: [schema('a'), off] }).manifest.validation).toBe(false)
    expect(build({ schemas: [schema('a')] }).manifest.validation).toBe(true)
  })

  it('a comment that cannot be read refuses every request of who may use its schema, and the rest is still built', () => {
    const { manifest } = build({ relations: [table('t', [id], { comment: '@graphql(x)' })] })
    const message = 'invalid input syntax for type json'
    expect(manifest.refusal).toEqual([{ message, usage: expect.arrayContaining(['public']) }])
    expect(manifest.entities.length).toBe(1)
    const own = schema('b', null, { grants: [{ grantee: 'anon', privileges: ['USAGE'] }] })
    const broken = table('t', [id], { schema: 'b', comment: '@graphql({"max_rows": "x"})' })
    const other = build({
      schemas: [schema('a'), own],
      relations: [broken, { ...broken, name: 'u', comment: '@graphql(x)' }],
    })
    expect(other.manifest.refusal).toEqual([{ message, usage: expect.arrayContaining(['anon']) }])
    expect(other.manifest.refusal?.[0]?.usage).not.toContain('public')
  })
})

describe('10.1 inputs', () => {
  it('leave out generated, identity and serial columns and what has no field', () => {
    const built = build({
      relations: [
        table(
          't',
          [
            column('plain'),
            column('made', 'int4', { generated: true }),
            column('counted', 'int4', { identity: true }),
            column('numbered', 'int4', { serial: true }),
            column('default', 'int4', { hasDefault: true, notNull: true }),
            column('2nd'),
          ],
          { primaryKey: ['2nd'], grants: everybody },
        ),
      ],
    })
    expect(built.entity('t').columns.map((item) => [item.column, item.input])).toEqual([
      ['plain', true],
      ['made', false],
      ['counted', false],
      ['numbered', false],
      ['default', true],
      ['2nd', false],
    ])
  })
})

describe('2.4 names that collide', () => {
  it('two relations of one name both stay, in order, and the loser is told', () => {
    const built = build({
      schemas: [schema('a'), schema('b')],
      relations: [table('t', [id], { schema: 'b' }), table('t', [id], { schema: 'a' })],
    })
    expect(built.manifest.entities.map((item) => item.schema)).toEqual(['a', 'b'])
    expect(built.diagnostics).toMatchObject([
      { code: 'name-taken', object: 'table b.t' },
      { code: 'field-taken' },
      {},
      {},
      {},
      {},
    ])
  })

  it('a built-in name wins over a relation', () => {
    const built = build({ relations: [table('String', [id])] })
    expect(built.diagnostics).toMatchObject([{ code: 'name-taken', object: 'table public."String"' }])
  })

  it('two columns of one field name are told', () => {
    const renamed = column('b', 'int4', { comment: '@graphql({"name": "id"})' })
    const built = build({ relations: [table('t', [id, renamed])] })
    expect(built.diagnostics).toMatchObject([
      { code: 'field-taken', object: 'column public.t.id', message: expect.stringContaining('column public.t.b') },
    ])
  })
})
