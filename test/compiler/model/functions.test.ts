import { describe, expect, it } from 'vitest'
import type { CatalogFunction } from '../../../compiler/catalog/catalog.ts'
import { argument, column, fn, table } from '../../support/catalog-literal.ts'
import { build } from './build.ts'

const relations = [table('posts', [column('id', 'int4', { notNull: true })])]

const withFunctions = (...functions: readonly CatalogFunction[]) => build({ relations, functions })

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
