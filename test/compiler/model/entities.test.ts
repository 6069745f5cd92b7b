import { describe, expect, it } from 'vitest'
import { column, schema, table, view } from '../../support/catalog-literal.ts'
import { build } from './build.ts'

const id = column('id', 'int4', { notNull: true })

describe('1.2 relations', () => {
  it('without a valid base name are left out and reported', () => {
    const { manifest, diagnostics } = build({ relations: [table('2nd', [id])] })
    expect(manifest.entities).toEqual([])
    expect(diagnostics).toMatchObject([{ code: 'name-unusable', object: 'table public."2nd"' }])
  })

  it('have a remark where tables inherit from theirs, for whose rows the key does not hold', () => {
    const built = build({ relations: [table('t', [id], { identifying: [] }), table('u', [id])] })
    expect(built.diagnostics.map(({ code, object }) => [code, object])).toEqual([['key-inherited', 'table public.t']])
  })

  it('without a key stay in the manifest, and are reported', () => {
    const built = build({ relations: [view('v', [column('b')]), table('t', [column('b')])] })
    expect(built.entity('v').key).toEqual([])
    expect(built.diagnostics.map(({ code, object }) => [code, object])).toEqual([
      ['no-key', 'table public.t'],
      ['no-key', 'view public.v'],
    ])
  })
})

describe('1.3 columns', () => {
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

  it('without a valid name are left out and reported, but stay when the key needs them', () => {
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
})

describe('13.2 settings of relations', () => {
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

describe('2.4 names that collide', () => {
  it('two relations of one name both stay, in order, and the loser is reported', () => {
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

  it('two columns of one field name are reported', () => {
    const renamed = column('b', 'int4', { comment: '@graphql({"name": "id"})' })
    const built = build({ relations: [table('t', [id, renamed])] })
    expect(built.diagnostics).toMatchObject([
      { code: 'field-taken', object: 'column public.t.id', message: expect.stringContaining('column public.t.b') },
    ])
  })
})
