import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keys } from '../../compiler/comments/keys.ts'
import { spatialOperators as interpretedSpatial } from '../../compiler/tools/verify/interpreter/geometry.ts'
import { operatorsOf, rulesOf } from '../../compiler/tools/verify/interpreter/types.ts'
import { additions, type BaseType, type ColumnType } from '../../compiler/tools/verify/interpreter/world.ts'
import { mailKinds, templateKinds } from '../../runtime/auth/mails/kinds.ts'
import { authErrors } from '../../runtime/auth/protocol/errors.ts'
import { otherProviders } from '../../runtime/auth/providers/other-providers.ts'
import { isProviderName } from '../../runtime/auth/providers/table.ts'
import { authSettingKeys } from '../../runtime/auth/settings/keys.ts'
import { enumOperators, listOperators, operators } from '../../runtime/sql/operators.ts'
import { pgTypes } from '../../runtime/sql/pg-types.ts'
import { scalarTable } from '../../runtime/sql/scalars.ts'
import { spatialOperators } from '../../runtime/sql/spatial.ts'
import { readPage } from '../support/examples.ts'
import { readDocument } from '../support/references/documents.ts'

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

const graphqlSpec = readDocument('docs/spec/graphql.md').sections
const authSpec = readDocument('docs/spec/auth.md').sections

/** Those that the text does not name as code: `name`, `name: …`, `"name"`. */
const notNamed = (names: readonly string[], text = ''): readonly string[] =>
  names.filter((name) => !new RegExp(`[\`"]${name}\\b`).test(text))

/** Those whose word stands in no file of the folder. The files that list them do not count. */
const notRead = (names: readonly string[], folder: string, lists: readonly string[]): readonly string[] => {
  const text = textsIn(folder, '.ts', lists)
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
}

const textsIn = (folder: string, end: string, without: readonly string[] = []): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !without.some((start) => name.startsWith(start)))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n')

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

  test('is specified for its types, with its meaning', () => {
    const text = graphqlSpec.get('4.1') ?? ''
    const rows = [...text.matchAll(/^\| `((?:\w+Filter ?)+)` \| `([\w ]+)` \|/gm)]
    const specified = rows.flatMap(([, types = '', names = '']) => types.split(' ').map((type) => [type, names]))
    const served = Object.entries(scalarTable).filter(([, row]) => row.operators.length > 0)
    expect(Object.fromEntries(specified)).toEqual(
      Object.fromEntries(served.map(([name, row]) => [`${name}Filter`, sorted(row.operators).join(' ')])),
    )
    expect(notNamed(Object.keys(operators), /^SQL meaning: .*$/m.exec(text)?.[0])).toEqual([])
    expect(notNamed(Object.keys(operators), readPage('docs/api.md'))).toEqual([])
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

  /** The specification names some as SQL does. */
  const sqlNames: Readonly<Record<string, string>> = { bpchar: 'char\\(n' }

  test('is specified with its scalar', () => {
    const rows = [...(graphqlSpec.get('3.1') ?? '').matchAll(/^\|(.*?)\| `(\w+)` \|/gm)]
    const specified = (name: string): string | undefined =>
      rows.find(([, names = '']) => notNamed([sqlNames[name] ?? name], names.replaceAll('"', '')).length === 0)?.[2]
    expect([...pgTypes].map(([name]) => [name, specified(name)])).toEqual(
      [...pgTypes].map(([name, { scalar }]) => [name, scalar]),
    )
  })
})

describe('a comment key', () => {
  const names = keys.map(({ key }) => key)

  test('is obeyed by the compiler, and specified', () => {
    expect(notRead(names, 'compiler', ['comments/', 'tools/'])).toEqual([])
    expect(notNamed(names, graphqlSpec.get('13.2'))).toEqual([])
  })

  /** What extensions bring is none of a case's own; test/runtime/graphql has it. */
  const withoutCase = ['extensions']

  test('has an effect that a case of fixtures/ shows', () => {
    const cases = textsIn('fixtures', 'schema.sql')
    const left = names.filter((key) => !cases.includes(`"${key}"`))
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
    const left = names.filter((key) => !new RegExp(`\\b${key}\\b`).test(drawn))
    expect(left.filter((key) => !undrawn.includes(key))).toEqual([])
  })
})

describe('a setting of auth', () => {
  /** It has one value only. */
  const unread = 'otp_length'

  test('is read, and specified', () => {
    const names = Object.keys(authSettingKeys)
    expect(
      notRead(
        names.filter((name) => name !== unread),
        'runtime/auth',
        ['settings/keys.ts'],
      ),
    ).toEqual([])
    expect(notNamed(names, authSpec.get('1'))).toEqual([])
  })
})

describe('a kind of mail', () => {
  test('is sent, specified, and shown to the owner', () => {
    const kinds = Object.keys(mailKinds)
    expect(notRead(kinds, 'runtime/auth/endpoints', [])).toEqual([])
    expect(notNamed(kinds, authSpec.get('9.1'))).toEqual([])
    expect(notNamed(templateKinds, readPage('docs/auth.md'))).toEqual([])
  })
})

describe('a provider of identities', () => {
  test('is not among those that we do not offer', () => {
    expect(otherProviders.filter(isProviderName)).toEqual([])
  })
})

describe('a refusal of auth', () => {
  test('is specified by its code', () => {
    expect(notNamed(Object.keys(authErrors), readPage('docs/spec/auth.md'))).toEqual([])
  })
})

describe('a panel of the dashboard', () => {
  test('is visited by a browser, and described', () => {
    const rows = readPage('runtime/dashboard/page/panels.tsx').matchAll(/\bname: '(\w+)', title: '([\w ]+)'/g)
    const panels = [...rows].map(([, name = '', title = '']) => ({ name, title }))
    expect(panels.length).toBeGreaterThan(5)
    const [visits, page] = ['test/support/dashboard.ts', 'docs/dashboard.md'].map(readPage)
    const described = page?.replace(/\s+/g, ' ')
    expect(panels.filter(({ name }) => !visits?.includes(`'${name}'`))).toEqual([])
    expect(panels.filter(({ title }) => !described?.includes(`**${title}**`))).toEqual([])
  })
})

describe('a command', () => {
  test('is run by a test', () => {
    const commands = [...readPage('compiler/tools/cli/main.ts').matchAll(/\.(\w+Command)\b/g)].map(
      ([, name = '']) => name,
    )
    expect(commands.length).toBeGreaterThan(10)
    expect(notRead(commands, 'test', [])).toEqual([])
  })
})
