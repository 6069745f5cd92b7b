import { describe, expect, it } from 'vitest'
import { objectId } from '../../../runtime/contract/facts.ts'
import type { JsonForm } from '../../../compiler/model/model.ts'
import { builderOf, call, callsOf, column, entity } from './models.ts'

describe('the builder of an entity', () => {
  const posts = entity('public', 'posts', {
    columns: [
      column('id', 'int4', { notNull: true }),
      column('title', 'varchar(8)'),
      column('tags', 'text[]'),
      column('boxes', 'box[]', { plainDelimiter: false }),
      column('box', 'box', { plainDelimiter: false }),
    ],
    computed: [{ id: 'full', schema: 'public', function: 'full_name', json: { kind: 'text' } }],
  })
  const built = builderOf(posts)

  it('quotes the relation and its columns', () => {
    expect(built.relation).toBe('"public"."posts"')
    expect(built.columns['title']?.of('t1')).toBe('t1."title"')
  })

  it('gives operands the exact type', () => {
    expect(built.columns['title']?.operand('$1')).toBe('$1::varchar(8)')
    expect(built.columns['title']?.operands('$1')).toBe('$1::varchar(8)[]')
  })

  it('reads arrays whose delimiter is no comma through text[]', () => {
    expect(built.columns['tags']?.operand('$1')).toBe('$1::text[]')
    expect(built.columns['boxes']?.operand('$1')).toBe('$1::text[]::box[]')
    expect(built.columns['box']?.operand('$1')).toBe('$1::box')
    expect(built.columns['box']?.operands('$1')).toBe('$1::text[]::box[]')
  })

  it('takes scalars and arrays out of a record as text', () => {
    expect(built.columns['title']?.recordType).toBe('text')
    expect(built.columns['tags']?.recordType).toBe('text[]')
    expect(built.columns['title']?.fromRecord('x."title"')).toBe('(x."title")::varchar(8)')
  })

  it('keeps NOT NULL', () => {
    expect([built.columns['id']?.notNull, built.columns['title']?.notNull]).toEqual([true, false])
  })

  it('makes node ids without line breaks (7.1)', () => {
    expect(built.nodeId(['t."id"'])).toBe(
      `pg_catalog.replace(pg_catalog.encode(pg_catalog.json_send(pg_catalog.json_build_array(` +
        `'public', 'posts', t."id")), 'base64'), E'\\n', '')`,
    )
  })

  it('makes node ids of keys that print otherwise in jsonb', () => {
    const columns = [column('at', 'float8', { alike: false })]
    expect(builderOf(entity('public', 'points', { columns, key: ['at'] })).nodeId(['t."at"'])).toContain(
      `'points', pg_catalog.to_jsonb(t."at"))`,
    )
  })

  it('calls computed fields with the row', () => {
    expect(built.computed['full']?.of('t1', [])).toBe('"public"."full_name"(t1)')
    expect(built.computed['full']?.json('v')).toBe('(v)::text')
  })

  it.each<[JsonForm, string]>([
    [{ kind: 'native' }, 'v'],
    [{ kind: 'text' }, '(v)::text'],
    [{ kind: 'text-array' }, '(v)::text[]'],
    [{ kind: 'json-text' }, `((v) #>> '{}')`],
    [
      {
        kind: 'mapped',
        names: [
          ["it's", 'ITS'],
          ['a\\b', 'AB'],
        ],
      },
      `case (v)::text when 'it''s' then 'ITS' when E'a\\\\b' then 'AB' else (v)::text end`,
    ],
  ])('prints JSON form %j', (json, sql) => {
    expect(builderOf(entity('s', 't', { columns: [column('c', 'x', { json })] })).columns['c']?.json('v')).toBe(sql)
  })

  it('finds nothing by the names that every object has', () => {
    expect(built.columns['constructor']).toBeUndefined()
    const odd = builderOf(entity('s', 't', { columns: [column('__proto__')] }))
    expect(Object.keys(odd.columns)).toEqual(['__proto__'])
    expect(odd.columns['__proto__']?.of('t')).toBe('t."__proto__"')
  })

  it('keeps types apart whose names look alike', () => {
    const odd = builderOf(
      entity('s', 't', {
        columns: [column('a', '"a b"'), column('b', '"a-b"'), column('c', 'int4[]'), column('d', 'int4_array')],
      }),
    )
    expect(Object.values(odd.columns).map(({ operand }) => operand('$1'))).toEqual([
      '$1::"a b"',
      '$1::"a-b"',
      '$1::int4[]',
      '$1::int4_array',
    ])
  })
})

describe('the builders of root functions', () => {
  it('pass each argument by name in its type', () => {
    const args = [
      { field: 'a', name: 'A', type: 'int4', array: false, plainDelimiter: true },
      { field: 'boxes', name: 'boxes', type: 'box[]', array: true, plainDelimiter: false },
    ]
    const built = callsOf([call('public', 'add', { args, json: { kind: 'text' } })])[objectId('public', 'add')]
    expect(built?.name).toBe('"public"."add"')
    expect(built?.args['a']?.('$1')).toBe('"A" => $1::int4')
    expect(built?.args['boxes']?.('$2')).toBe('"boxes" => $2::text[]::box[]')
    expect(built?.json('v')).toBe('(v)::text')
  })

  it('are an empty record when there is none', () => {
    expect(Object.keys(callsOf([]))).toEqual([])
  })
})
