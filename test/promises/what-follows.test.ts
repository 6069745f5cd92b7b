import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keys } from '../../compiler/comments/keys.ts'
import { spatialOperators as interpretedSpatial } from '../../compiler/tools/verify/interpreter/geometry.ts'
import { operatorsOf, rulesOf } from '../../compiler/tools/verify/interpreter/types.ts'
import { additions, type BaseType, type ColumnType } from '../../compiler/tools/verify/interpreter/world.ts'
import { enumOperators, listOperators, operators } from '../../runtime/sql/operators.ts'
import { pgTypes } from '../../runtime/sql/pg-types.ts'
import { scalarTable } from '../../runtime/sql/scalars.ts'
import { spatialOperators } from '../../runtime/sql/spatial.ts'

/**
 * Promise: whoever adds a row to a table learns here what else it needs. Of the reference interpreter only names are
 * compared: what it does with them is written apart from the product.
 */

const bases = [
  ['int2', 'Int'],
  ['int4', 'Int'],
  ['int8', 'BigInt'],
  ['text', 'String'],
  ['varchar(5)', 'String'],
  ['bool', 'Boolean'],
  ['numeric', 'BigFloat'],
  ['numeric(8,2)', 'BigFloat'],
  ['timestamptz', 'Datetime'],
  ['timestamp', 'Datetime'],
  ['date', 'Date'],
  ['time', 'Time'],
  ['uuid', 'UUID'],
  ['float8', 'Float'],
] as const satisfies readonly (readonly [BaseType, keyof typeof scalarTable])[]

const typeOf = (base: BaseType, list = false): ColumnType => ({ base, list, enum: null })
const sorted = (names: Iterable<string>): readonly string[] => [...names].sort()

describe('an operator', () => {
  test.each(bases)('of %s is known to the reference interpreter', (base, scalar) => {
    expect(rulesOf(typeOf(base)).graphql).toBe(scalar)
    expect(sorted(operatorsOf(typeOf(base), false))).toEqual(sorted(scalarTable[scalar].operators))
  })

  test('of enums, lists and places is known to it, too', () => {
    expect(sorted(operatorsOf({ ...typeOf('enum'), enum: 'mood' }, false))).toEqual(sorted(enumOperators))
    expect(sorted(operatorsOf(typeOf('int4', true), false))).toEqual(sorted(listOperators))
    expect(sorted(interpretedSpatial)).toEqual(sorted([...Object.keys(spatialOperators), 'is']))
  })

  test('belongs to some type', () => {
    const used = new Set([
      ...Object.values(scalarTable).flatMap((row) => row.operators),
      ...enumOperators,
      ...listOperators,
    ])
    expect(sorted(used)).toEqual(sorted(Object.keys(operators)))
  })
})

describe('a Postgres type', () => {
  /** Their values are as exact with another type of the same scalar, or print in more than one way (docs/exactness.md). */
  const undrawn = ['json', 'jsonb', 'money', 'name', 'timetz']

  test('is drawn, or is like one that is', () => {
    const drawn = new Set<string>(bases.map(([, scalar]) => scalar))
    const left = [...pgTypes].flatMap(([name, { scalar }]) => (drawn.has(scalar) ? [] : [name]))
    expect(left.filter((name) => !undrawn.includes(name))).toEqual([])
  })
})

describe('a comment key', () => {
  const textsIn = (folder: string, end: string): string =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(end))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n')

  /** What extensions bring is none of a case's own; test/runtime/graphql has it. */
  const withoutCase = ['extensions']

  test('has an effect that a case of fixtures/ shows', () => {
    const cases = textsIn('fixtures', 'schema.sql')
    const left = keys.map(({ key }) => key).filter((key) => !cases.includes(`"${key}"`))
    expect(left.filter((key) => !withoutCase.includes(key))).toEqual([])
  })

  /** They change no answer, or stand on views, which no world has. */
  const undrawn = [
    'description',
    'introspection',
    'limits',
    'validation',
    'extensions',
    'primary_key_columns',
    'foreign_keys',
  ]

  test('is drawn for the reference interpreter, or said not to be', () => {
    const drawn =
      textsIn('test/support/exact', '.ts') + textsIn('test/support/arbitraries', '.ts') + additions.join(' ')
    const left = keys.map(({ key }) => key).filter((key) => !new RegExp(`\\b${key}\\b`).test(drawn))
    expect(left.filter((key) => !undrawn.includes(key))).toEqual([])
  })
})
