import { describe, expect, it } from 'vitest'
import type { CatalogFunction } from '../../../compiler/catalog/catalog.ts'
import {
  argument,
  arrayOf,
  column,
  composite,
  domain,
  enumType,
  fn,
  schema,
  table,
  view,
} from '../../support/catalog-literal.ts'
import { build } from './build.ts'

const pair = composite('pair')
const mood = enumType('mood', ['ok'])
const types = [
  pair,
  arrayOf(pair),
  mood,
  arrayOf(mood),
  ...[domain('positive', 'int4'), domain('moody', 'mood'), domain('paired', 'pair')].flatMap((item) => [
    item,
    arrayOf(item),
  ]),
  domain('tags', '_text'),
]
const id = column('id', 'int4', { notNull: true })
const relations = [table('posts', [id]), view('keyless', [column('a')])]

const withFunctions = (...functions: readonly CatalogFunction[]) => build({ types, relations, functions })
const rootFields = (...functions: readonly CatalogFunction[]) => withFunctions(...functions).functionFields

describe('9.1 root functions', () => {
  it.each([
    ['int4', true],
    ['_int4', true],
    ['json', true],
    ['int4range', true],
    ['positive', true],
    ['paired', true],
    ['_positive', true],
    ['moody', false],
    ['tags', false],
    ['mood', false],
    ['_mood', false],
    ['_moody', false],
    ['pair', false],
    ['_pair', false],
    ['row:posts', false],
    ['anyelement', false],
    ['record', false],
  ])('9.1.4 takes an argument of %s: %s', (type, served) => {
    expect(rootFields(fn('f', [argument('a', type), argument('b')]))).toEqual(served ? ['f'] : [])
  })

  it.each([
    ['int4', { kind: 'value', type: { kind: 'scalar', name: 'Int', list: false }, typeSchema: null }],
    ['_text', { kind: 'value', type: { kind: 'scalar', name: 'String', list: true }, typeSchema: null }],
    ['positive', { kind: 'value', type: { kind: 'scalar', name: 'Opaque', list: false }, typeSchema: 'public' }],
    ['void', { kind: 'void' }],
    ['row:posts', { kind: 'row', entity: '["public","posts"]' }],
    ['row:keyless', null],
    ['_row:posts', null],
    ['mood', null],
    ['_mood', null],
    ['pair', null],
    ['record', null],
    ['trigger', null],
    ['event_trigger', null],
    ['internal', null],
    ['anyelement', null],
  ])('9.1.5 answers %s as %o', (type, expected) => {
    expect(withFunctions(fn('f', [], type)).manifest.functions[0]?.result ?? null).toEqual(expected)
  })

  it('say why they are hidden; trigger functions are passed over', () => {
    expect(withFunctions(fn('f', [], 'mood')).diagnostics).toMatchObject([
      { code: 'no-key' },
      {
        code: 'function-hidden',
        severity: 'info',
        object: 'function public.f()',
        message: 'It is not in the API: its result has no counterpart in GraphQL.',
      },
    ])
    expect(withFunctions(fn('f', [], 'trigger')).codes).toEqual(['no-key'])
  })

  it('2.4 are reported when a table has their field', () => {
    const built = withFunctions(fn('postsCollection'))
    expect(built.functionFields).toEqual(['postsCollection'])
    expect(built.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'field-taken', object: 'function public."postsCollection"()' }),
    )
  })
})

describe('9.2 arguments', () => {
  const args = (names: readonly (readonly [string, string])[], defaultCount: number, defaults: string | null) =>
    withFunctions(
      fn(
        'f',
        names.map(([name, type]) => argument(name, type)),
        'int4',
        { defaultCount, defaults },
      ),
    ).call('f').args

  it('are counted by the catalogue, whatever commas they hold', () => {
    expect(
      args(
        [
          ['a', 'text'],
          ['b', 'int4'],
        ],
        2,
        "'a,b'::text, 1",
      ).map((item) => [item.required, item.defaultValue]),
    ).toEqual([
      [false, '"a,b"'],
      [false, '1'],
    ])
    expect(
      args([['a', '_int4']], 1, "'{4,2}'::integer[]").map((item) => [item.required, item.databaseDefault]),
    ).toEqual([[false, "'{4,2}'::integer[]"]])
  })

  it.each([
    "ARRAY[1, 2], 'it''s, so'::text",
    'f(1, \'),(\'::text), "a,b"()',
    "E'a\\\\\\', b'::text, (1 + (2))",
    "COALESCE(NULL::text, ','::text), ROW(1, 2)",
  ])('are distinguished in %s', (list) => {
    const two: [string, string][] = [
      ['a', 'varchar'],
      ['b', 'varchar'],
    ]
    const printed = args(two, 2, list).map((item) => item.databaseDefault)
    expect(printed.join(', ')).toBe(list)
    expect(printed.every((item) => item !== undefined && item !== '')).toBe(true)
  })

  it('are optional also where the list cannot be taken apart', () => {
    expect(args([['a', 'int4']], 1, '1, 2').map((item) => [item.required, item.defaultValue])).toEqual([[false, null]])
  })

  it.each([
    ['int4', '5', '5'],
    ['int2', '5', '5'],
    ['int4', "'-5'::integer", null],
    ['int4', '(1 + 1)', null],
    ['int4', 'NULL::integer', null],
    ['int4', '99999999999', null],
    ['bool', 'true', 'true'],
    ['bool', 'false', 'false'],
    ['float8', '1.5', '1.5'],
    ['float4', '1e+20', '1e+20'],
    ['float8', "'NaN'::double precision", null],
    ['text', "'it''s'::text", '"it\'s"'],
    ['text', "''::text", '""'],
    ['text', "('a'::text || 'b'::text)", null],
    ['text', 'NULL::text', null],
    ['text', "E'a\\\\b'::text", null],
    ['varchar', "'x'::character varying", null],
    ['numeric', '1.5', null],
    ['int8', '5', null],
    ['date', 'CURRENT_DATE', null],
  ])('of %s with the default %s show %s', (type, printed, literal) => {
    expect(args([['a', type]], 1, printed)).toMatchObject([{ required: false, defaultValue: literal }])
  })

  it('are cast to their types under their own names', () => {
    const built = build({
      schemas: [schema('public', '@graphql({"inflect_names": true})')],
      functions: [fn('add_up', [argument('First_Of', '_box'), argument('b', 'int8')], 'int8')],
    })
    expect(built.call('addUp').args.map((item) => item.field)).toEqual(['firstOf', 'b'])
    expect(built.model.functions.find(({ id }) => id === '["public","add_up"]')).toEqual({
      id: '["public","add_up"]',
      schema: 'public',
      function: 'add_up',
      args: [
        { field: 'firstOf', name: 'First_Of', type: '_box', array: true, plainDelimiter: false },
        { field: 'b', name: 'b', type: 'int8', array: false, plainDelimiter: true },
      ],
      json: { kind: 'text' },
    })
  })
})

describe('9.4 computed fields', () => {
  it('of one name stay both for the roles to choose from, and the first is reported', () => {
    const built = withFunctions(fn('_f', [argument('', 'row:posts')]), fn('f', [argument('', 'row:posts')]))
    expect(built.entity('posts').computed.map((item) => item.function)).toEqual(['_f', 'f'])
    expect(built.diagnostics).toContainEqual(
      expect.objectContaining({
        code: 'field-taken',
        object: 'function public._f(row:posts)',
        message: expect.stringContaining('function public.f(row:posts)'),
      }),
    )
  })
})
