import { describe, expect, it } from 'vitest'
import { pgTypes } from '../../../runtime/sql/pg-types.ts'
import { arrayOf, column, composite, domain, enumType, extensionType, table } from '../../support/catalog-literal.ts'
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

describe('3.1 types', () => {
  it('a type of that name in another schema is not the built-in one', () => {
    const own = { ...extensionType('int4', 'mine'), oid: 'mine.int4' }
    const one = build({ types: [own], relations: [table('t', [column('c', 'mine.int4')])] })
    expect(one.column('t', 'c').type).toEqual({ kind: 'scalar', name: 'Opaque', list: false })
  })

  it('a column that has no counterpart is left out and reported', () => {
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

describe('SQL of types', () => {
  const sql = (type: string) => built(type).model.entities.find(({ id }) => id === '["public","t"]')?.columns[0]

  it('holds arrays and the delimiter of their elements', () => {
    expect(sql('int4')).toMatchObject({ type: 'int4', array: false, plainDelimiter: true })
    expect(sql('_int4')).toMatchObject({ array: true, plainDelimiter: true })
    expect(sql('box')).toMatchObject({ array: false, plainDelimiter: false })
    expect(sql('_box')).toMatchObject({ array: true, plainDelimiter: false })
  })
})

describe('3.2 enums', () => {
  const only = (comment: string | null, labels = ['sad', 'ok', 'very happy']) =>
    build({ types: [enumType('mood', labels, comment)], relations: [table('t', [column('c', 'mood')])] })

  it('have their values in sort order; labels that GraphQL cannot spell are left out and reported', () => {
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

  it('report labels that the comment maps and the type lacks', () => {
    expect(only('@graphql({"mappings": {"glad": "X"}})').codes).toContain('label-unknown')
  })

  it('without any usable name or value are Opaque', () => {
    expect(only('@graphql({"name": "a b"})').manifest.enums).toEqual([])
    expect(only('@graphql({"name": "a b"})').column('t', 'c').type).toMatchObject({ name: 'Opaque' })
    expect(only(null, ['-', '+']).column('t', 'c').type).toMatchObject({ name: 'Opaque' })
    expect(only(null, []).codes).toContain('enum-empty')
  })
})

describe('6 aggregates', () => {
  it('the table of types holds names of pg_catalog only', () => {
    expect(pgTypes.has('citext')).toBe(false)
  })
})
