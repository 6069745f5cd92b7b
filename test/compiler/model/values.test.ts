import { describe, expect, it } from 'vitest'
import { pgTypes } from '../../../runtime/sql/pg-types.ts'
import {
  arrayOf,
  column,
  composite,
  domain,
  enumType,
  extensionType,
  schema,
  table,
} from '../../support/catalog-literal.ts'
import { build, type Built } from './build.ts'

const mood = enumType('mood', ['sad', 'ok'])
const foreignMood = enumType('mood', ['sad'], null, { schema: 'elsewhere' })
const pair = composite('pair')
const types = [
  mood,
  arrayOf(mood),
  foreignMood,
  arrayOf(foreignMood),
  pair,
  arrayOf(pair),
  ...[
    domain('positive', 'int4'),
    domain('tags', '_text'),
    domain('deeper', 'positive'),
    domain('moody', 'mood'),
  ].flatMap((item) => [item, arrayOf(item)]),
  domain('deeptags', 'tags'),
  domain('paired', 'pair'),
  extensionType('citext', 'extensions'),
  extensionType('hstore', 'extensions'),
]

const built = (type: string, modifier = -1): Built =>
  build({ types, relations: [table('other', [column('id')]), table('t', [column('c', type, { modifier })])] })

const shown = (type: string): string | null => {
  const facts = built(type).entity('t').columns[0]?.type
  if (facts == null) return null
  const name = facts.kind === 'scalar' ? facts.name : facts.id
  return facts.list ? `[${name}]` : name
}

describe('3.1 types', () => {
  it.each([
    ['int2', 'Int'],
    ['int4', 'Int'],
    ['int8', 'BigInt'],
    ['float4', 'Float'],
    ['float8', 'Float'],
    ['numeric', 'BigFloat'],
    ['text', 'String'],
    ['varchar', 'String'],
    ['bpchar', 'String'],
    ['char', 'String'],
    ['extensions.citext', 'String'],
    ['bool', 'Boolean'],
    ['date', 'Date'],
    ['time', 'Time'],
    ['timestamp', 'Datetime'],
    ['timestamptz', 'Datetime'],
    ['uuid', 'UUID'],
    ['json', 'JSON'],
    ['jsonb', 'JSON'],
    ['timetz', 'Opaque'],
    ['interval', 'Opaque'],
    ['bytea', 'Opaque'],
    ['money', 'Opaque'],
    ['name', 'Opaque'],
    ['oid', 'Opaque'],
    ['int4range', 'Opaque'],
    ['extensions.hstore', 'Opaque'],
    ['_int8', '[BigInt]'],
    ['_bytea', '[Opaque]'],
    ['_json', '[JSON]'],
    ['mood', '["public","mood"]'],
    ['_mood', '[["public","mood"]]'],
    ['elsewhere.mood', 'Opaque'],
    ['_elsewhere.mood', '[Opaque]'],
    ['positive', 'Opaque'],
    ['deeper', 'Opaque'],
    ['moody', 'Opaque'],
    ['paired', 'Opaque'],
    ['_positive', '[Opaque]'],
    ['_tags', '[Opaque]'],
    ['tags', null],
    ['deeptags', null],
    ['pair', null],
    ['_pair', null],
    ['row:other', null],
    ['_row:other', null],
  ])('%s is %s', (type, expected) => expect(shown(type)).toBe(expected))

  it('a type of that name in another schema is not the built-in one', () => {
    const own = { ...extensionType('int4', 'mine'), oid: 'mine.int4' }
    const one = build({ types: [own], relations: [table('t', [column('c', 'mine.int4')])] })
    expect(one.column('t', 'c').type).toEqual({ kind: 'scalar', name: 'Opaque', list: false })
  })

  it('a column that has no counterpart is left out and told', () => {
    expect(built('pair').entity('t').columns).toEqual([])
    expect(built('pair').diagnostics).toContainEqual(
      expect.objectContaining({ code: 'column-unmapped', object: 'column public.t.c' }),
    )
  })

  it('a key column that has no counterpart stays without a type', () => {
    const one = build({ types, relations: [table('t', [column('id', 'pair')])] })
    expect(one.column('t', 'id')).toMatchObject({ field: 'id', type: null, filter: false, order: false, input: false })
  })

  it('names the schema that a type, or an element, lives in', () => {
    expect(built('int4').column('t', 'c').typeSchema).toBeNull()
    expect(built('_int4').column('t', 'c').typeSchema).toBeNull()
    expect(built('extensions.citext').column('t', 'c').typeSchema).toBe('extensions')
    expect(built('_elsewhere.mood').column('t', 'c').typeSchema).toBe('elsewhere')
    expect(built('mood').column('t', 'c').typeSchema).toBe('public')
  })
})

describe('3.1 conversion to JSON', () => {
  const mapped = enumType('mapped', ['a', 'b'], '@graphql({"mappings": {"a": "ALPHA"}})')
  const form = (type: string) =>
    build({
      types: [...types, mapped, arrayOf(mapped)],
      relations: [table('t', [column('c', type)])],
    }).model.entities.find(({ id }) => id === '["public","t"]')?.columns[0]?.json

  it.each([
    ['int4', { kind: 'native' }],
    ['text', { kind: 'native' }],
    ['int8', { kind: 'text' }],
    ['numeric', { kind: 'text' }],
    ['_int8', { kind: 'text-array' }],
    ['_numeric', { kind: 'text-array' }],
    ['_json', { kind: 'text-array' }],
    ['_jsonb', { kind: 'text-array' }],
    ['json', { kind: 'json-text' }],
    ['jsonb', { kind: 'json-text' }],
    ['_int4', { kind: 'native' }],
    ['positive', { kind: 'native' }],
    ['pair', { kind: 'native' }],
    ['mood', { kind: 'text' }],
    ['mapped', { kind: 'mapped', names: [['a', 'ALPHA']] }],
    // 3.2: arrays print raw labels.
    ['_mapped', { kind: 'native' }],
  ])('of %s is %o', (type, expected) => expect(form(type)).toEqual(expected))
})

describe('SQL of types', () => {
  const sql = (type: string) => built(type).model.entities.find(({ id }) => id === '["public","t"]')?.columns[0]

  it('tells arrays and the delimiter of their elements', () => {
    expect(sql('int4')).toMatchObject({ type: 'int4', array: false, plainDelimiter: true })
    expect(sql('_int4')).toMatchObject({ array: true, plainDelimiter: true })
    expect(sql('box')).toMatchObject({ array: false, plainDelimiter: false })
    expect(sql('_box')).toMatchObject({ array: true, plainDelimiter: false })
  })
})

describe('3.2 enums', () => {
  const only = (comment: string | null, labels = ['sad', 'ok', 'very happy']) =>
    build({ types: [enumType('mood', labels, comment)], relations: [table('t', [column('c', 'mood')])] })

  it('have their values in sort order; labels that GraphQL cannot spell are left out and told', () => {
    const one = only(null)
    expect(one.manifest.enums).toMatchObject([
      {
        name: 'mood',
        mapped: false,
        values: [
          { label: 'sad', name: 'sad' },
          { label: 'ok', name: 'ok' },
        ],
      },
    ])
    expect(one.codes).toContain('label-unusable')
  })

  it('print mapped names', () => {
    const one = only('@graphql({"name": "Feeling", "mappings": {"very happy": "HAPPY"}})')
    expect(one.manifest.enums[0]).toMatchObject({ name: 'Feeling', mapped: true })
    expect(one.manifest.enums[0]?.values[2]).toEqual({ label: 'very happy', name: 'HAPPY' })
    expect(one.codes).not.toContain('label-unusable')
  })

  it('cannot use true, false and null', () => {
    expect(only(null, ['true', 'false', 'null', 'maybe']).manifest.enums[0]?.values).toEqual([
      { label: 'maybe', name: 'maybe' },
    ])
  })

  it('give a name that two labels want to the first', () => {
    const one = only('@graphql({"mappings": {"ok": "sad"}})', ['sad', 'ok'])
    expect(one.manifest.enums[0]?.values).toEqual([{ label: 'sad', name: 'sad' }])
    expect(one.codes).toContain('label-unusable')
  })

  it('tell of labels that the comment maps and the type lacks', () => {
    expect(only('@graphql({"mappings": {"glad": "X"}})').codes).toContain('label-unknown')
  })

  it('without any usable name or value are Opaque', () => {
    expect(only('@graphql({"name": "a b"})').manifest.enums).toEqual([])
    expect(only('@graphql({"name": "a b"})').column('t', 'c').type).toMatchObject({ name: 'Opaque' })
    expect(only(null, ['-', '+']).column('t', 'c').type).toMatchObject({ name: 'Opaque' })
    expect(only(null, []).codes).toContain('enum-empty')
  })

  it('of unserved schemas are no enums', () => {
    expect(build({ types: [foreignMood] }).manifest.enums).toEqual([])
  })

  it('inflect by their own schema', () => {
    const inflected = build({
      schemas: [schema('public', '@graphql({"inflect_names": true})'), schema('raw')],
      types: [enumType('my_mood', ['a']), enumType('my_mood', ['a'], null, { schema: 'raw' })],
    })
    expect(inflected.manifest.enums.map((item) => item.name)).toEqual(['MyMood', 'my_mood'])
  })
})

describe('3.4 length rule', () => {
  it('holds for char(n) and varchar(n), not for their arrays nor for others', () => {
    expect(built('varchar', 12).column('t', 'c').maxLength).toBe(8)
    expect(built('bpchar', 5).column('t', 'c').maxLength).toBe(1)
    expect(built('varchar').column('t', 'c').maxLength).toBeNull()
    expect(built('_varchar', 12).column('t', 'c').maxLength).toBeNull()
    expect(built('numeric', 655366).column('t', 'c').maxLength).toBeNull()
  })
})

describe('4.1 filters and 5.4 orders', () => {
  it.each([
    ['int4', true, true],
    ['uuid', true, true],
    ['bool', true, true],
    ['bytea', true, true],
    ['mood', true, true],
    ['positive', true, true],
    ['json', false, false],
    ['jsonb', false, false],
    ['_int4', true, false],
    ['_bool', true, false],
    ['_json', false, false],
    ['_bytea', false, false],
    ['_mood', false, false],
    ['_positive', false, false],
  ])('%s: filter %s, order %s', (type, filter, order) => {
    expect(built(type).column('t', 'c')).toMatchObject({ filter, order })
  })
})

describe('6 aggregates', () => {
  it.each([
    ['int2', 'BigInt', 'BigFloat', 'Int'],
    ['int4', 'BigInt', 'BigFloat', 'Int'],
    ['int8', 'BigInt', 'BigFloat', 'BigInt'],
    ['float4', 'BigFloat', 'BigFloat', 'BigFloat'],
    ['float8', 'BigFloat', 'BigFloat', 'BigFloat'],
    ['numeric', 'BigFloat', 'BigFloat', 'BigFloat'],
    ['money', 'BigFloat', 'BigFloat', 'Opaque'],
    ['text', null, null, 'String'],
    ['varchar', null, null, 'String'],
    ['bpchar', null, null, 'String'],
    ['char', null, null, 'String'],
    ['name', null, null, 'String'],
    ['extensions.citext', null, null, 'String'],
    ['date', null, null, 'Date'],
    ['time', null, null, 'Time'],
    ['timetz', null, null, 'Time'],
    ['timestamp', null, null, 'Datetime'],
    ['timestamptz', null, null, 'Datetime'],
    ['bool', null, null, null],
    ['uuid', null, null, null],
    ['json', null, null, null],
    ['mood', null, null, null],
    ['positive', null, null, null],
    ['_int4', null, null, null],
    ['interval', null, null, null],
  ])('%s: sum %s, avg %s, min and max %s', (type, sum, avg, extreme) => {
    expect(built(type).column('t', 'c').aggregate).toEqual({ sum, avg, min: extreme, max: extreme })
  })

  it('the table of types holds names of pg_catalog only', () => {
    expect(pgTypes.has('citext')).toBe(false)
  })
})
