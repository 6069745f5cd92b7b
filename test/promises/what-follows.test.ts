import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addedOperations } from '../../bench/blog/added.ts'
import { filteredScalars } from '../reference/interpreter/api.ts'
import { spatialOperators as interpretedSpatial } from '../reference/interpreter/geometry.ts'
import { matches } from '../reference/interpreter/patterns.ts'
import { operatorsOf, rulesOf } from '../reference/interpreter/types.ts'
import { additions, type BaseType, type ColumnType } from '../reference/interpreter/world.ts'
import { patternOperands } from '../reference/questions/filter.ts'
import { ownerRoutes } from '../../runtime/console/admin/routes.ts'
import { routes } from '../../runtime/auth/http/routes.ts'
import { signUp } from '../../runtime/auth/io/user.ts'
import { mailKinds, templateKinds } from '../../runtime/auth/mails/kinds.ts'
import { authErrors } from '../../runtime/auth/protocol/errors.ts'
import { otherProviders } from '../../runtime/auth/providers/other-providers.ts'
import { isProviderName, providerNames } from '../../runtime/auth/providers/provider-table.ts'
import { authSettingKeys } from '../../runtime/auth/settings/setting-keys.ts'
import { scalarNames } from '../../runtime/contract/scalar-names.ts'
import { enumOperators, listOperators, operators } from '../../runtime/sql/operators.ts'
import { pgTypes } from '../../runtime/sql/pg-types.ts'
import { scalarTable } from '../../runtime/sql/scalars.ts'
import { spatialOperators } from '../../runtime/sql/spatial.ts'
import { worlds } from '../reference/exact/worlds/world.ts'
import { postgisMajor } from '../support/clusters.ts'
import { schemaSql } from '../reference/exact/ddl.ts'
import { additionPages, readPage } from '../support/examples.ts'
import { readDocument } from '../support/references/documents.ts'
import { filesIn, textsIn } from '../support/texts.ts'
import { keys } from '../support/with-additions.ts'

/**
 * Promise: anyone who adds a row to a table learns here what else it needs. Of the reference interpreter only names are
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

describe('an operator', () => {
  test.each(bases)('of %s is known to the reference interpreter', (base, scalar) => {
    expect(rulesOf(typeOf(base)).graphql).toBe(scalar)
    expect(sorted(operatorsOf(typeOf(base), {}))).toEqual(sorted(scalarTable[scalar].operators))
  })

  test('of enums, lists and places is known to it, too', () => {
    expect(sorted(operatorsOf({ ...typeOf('enum'), enum: 'mood' }, {}))).toEqual(sorted(enumOperators))
    expect(sorted(operatorsOf(typeOf('int4', true), {}))).toEqual(sorted(listOperators))
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
    const patterns = Object.entries(operators).flatMap(([name, { operand }]) => (operand === 'pattern' ? [name] : []))
    expect(notNamed(patterns, /\bPatterns \(([^)]*)\)/.exec(readPage('docs/spec/graphql.md'))?.[1])).toEqual([])
  })

  test('has operands that are drawn, and an example', () => {
    expect(sorted(Object.keys(patternOperands))).toEqual(sorted(Object.keys(matches)))
    const examples = readPage('test/runtime/graphql/filters.test.ts')
    expect(Object.keys(operators).filter((name) => !new RegExp(`[{,] ${name}: `).test(examples))).toEqual([])
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
  const sqlNames: Readonly<Record<string, string>> = { bpchar: 'char\\(' }

  test('is written and read by a test', () => {
    const values = readPage('test/runtime/graphql/values.test.ts')
    const left = [...pgTypes.keys()].filter((name) => !new RegExp(`\\b${sqlNames[name] ?? name}\\b`).test(values))
    expect(left).toEqual([])
  })

  test('is specified with its scalar', () => {
    const rows = [...(graphqlSpec.get('3.1') ?? '').matchAll(/^\|(.*?)\| `(\w+)` \|/gm)]
    const specified = (name: string): string | undefined =>
      rows.find(([, names = '']) => notNamed([sqlNames[name] ?? name], names.replaceAll('"', '')).length === 0)?.[2]
    expect([...pgTypes].map(([name]) => [name, specified(name)])).toEqual(
      [...pgTypes].map(([name, { scalar }]) => [name, scalar]),
    )
  })
})

describe('a scalar', () => {
  test('is specified, and so is whether its lists have a filter', () => {
    const specified = `${graphqlSpec.get('3.5')}${graphqlSpec.get('17')}`
    expect(scalarNames.filter((name) => !new RegExp(`\\b${name}\\b`).test(specified))).toEqual([])
    const [, listed = ''] = /`\{X\}ListFilter`, X in `([\w ]+)`/.exec(graphqlSpec.get('4.1') ?? '') ?? []
    expect(sorted(listed.split(' '))).toEqual(sorted(scalarNames.filter((name) => scalarTable[name].lists)))
  })

  test('with a filter is known to the reference interpreter, whose names no table may take', () => {
    expect(sorted(filteredScalars)).toEqual(
      sorted(scalarNames.filter((name) => scalarTable[name].operators.length > 0)),
    )
  })
})

describe('a comment key', () => {
  const names = keys.map(({ key }) => key)

  test('is specified', () => {
    expect(notNamed(names, graphqlSpec.get('13.2'))).toEqual([])
  })

  test('is an addition in the specification where it is one on the page', () => {
    const rows = [
      ...additionPages
        .map(readPage)
        .join('\n')
        .matchAll(/^\| `(\w+):/gm),
    ].map(([, name = '']) => name)
    expect(rows.length).toBeGreaterThan(10)
    expect(notNamed(rows, graphqlSpec.get('17'))).toEqual([])
    const [, added = ''] = /^\| \d+ \| new settings \|(.*)$/m.exec(graphqlSpec.get('18') ?? '') ?? []
    expect(rows.filter((name) => !new RegExp(`\\b${name}\\b`).test(added))).toEqual([])
  })

  /** They change no answer, or stand on views, which no world has; places need PostGIS. */
  const undrawn = [
    'description',
    'validation',
    'extensions',
    'primary_key_columns',
    'foreign_keys',
    ...(postgisMajor() === null ? ['geo'] : []),
  ]

  test('is drawn for the reference interpreter, or said not to be', () => {
    const drawn = fc.sample(worlds, { seed: 1, numRuns: 200 }).map(schemaSql).join('\n')
    expect(sorted(new Set(names.filter((key) => !drawn.includes(`"${key}":`))))).toEqual(sorted(undrawn))
  })

  /** They change names, texts and what is allowed; `geo` needs PostGIS, which few servers have. */
  const unmeasured = [
    ...['allowlist', 'deprecated', 'description', 'explain', 'extensions', 'foreign_keys', 'foreign_name'],
    ...['inflect_names', 'introspection', 'limits', 'live', 'local_name', 'mappings', 'max_rows', 'name'],
    ...['primary_key_columns', 'readOnly', 'root', 'schemaReport', 'validation', 'writeOnly'],
    'geo',
  ]

  test('is measured beside SQL that is written by hand, where it changes statements', () => {
    const measured = new Set<string>(addedOperations.flatMap(({ shows }) => shows))
    expect(sorted(new Set(names.filter((key) => !measured.has(key))))).toEqual(sorted(unmeasured))
    const sql = ['schema', 'values', 'writes'].map((name) => readPage(`bench/blog/${name}.sql`)).join('\n')
    expect([...measured].filter((key) => !sql.includes(`"${key}":`))).toEqual([])
  })

  /** They change no answer to the documents that it draws, which ask for neither composites nor functions and write nothing. */
  const unread = (
    'live allowlist composites deprecated description explain extensions functionShapes introspection preset ' +
    'readOnly'
  ).split(' ')

  test('is read by `catalograph verify` from the schema of the owner', () => {
    const sketch = readPage('test/reference/sketch.ts')
    const left = names.filter((key) => !sketch.includes(`settings.${key}`) && !additions.some((name) => name === key))
    expect(sorted(new Set(left))).toEqual(sorted([...unread, 'schemaReport', 'validation']))
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
        ['settings/setting-keys.ts'],
      ),
    ).toEqual([])
    expect(notNamed(names, authSpec.get('1'))).toEqual([])
  })

  test('is set by a test', () => {
    expect(notRead(Object.keys(authSettingKeys), 'test', ['promises/what-follows.test.ts'])).toEqual([])
  })
})

describe('a kind of mail', () => {
  test('is sent, specified, and shown to the owner', () => {
    const kinds = Object.keys(mailKinds)
    expect(notRead(kinds, 'runtime/auth/endpoints', [])).toEqual([])
    expect(notNamed(kinds, authSpec.get('9.1'))).toEqual([])
    expect(notNamed(templateKinds, readPage('docs/auth.md'))).toEqual([])
  })

  test('is sent by a test', () => {
    const templates = ['mails/plain-text.test.ts', 'mails/template.test.ts', 'mails/templates.test.ts']
    expect(notRead(Object.keys(mailKinds), 'test/runtime/auth', templates)).toEqual([])
  })
})

describe('a provider of identities', () => {
  test('is not among those that we do not offer', () => {
    expect(otherProviders.filter(isProviderName)).toEqual([])
  })

  test('is known to the client by its name, and signed in with by a test', () => {
    const unknown = providerNames.filter((name) => !readPage('runtime/client/auth-client.ts').includes(`'${name}' | `))
    expect(unknown).toEqual([])
    expect(notRead(providerNames, 'test/runtime/auth/providers', [])).toEqual([])
  })

  test('is specified', () => {
    expect(notNamed(providerNames, authSpec.get('6.3'))).toEqual([])
  })
})

describe('an endpoint', () => {
  const paths = (rows: readonly { readonly at: string }[]): readonly string[] =>
    rows.map(({ at }) => at.replace(/^\w+ /, '').replace(/\/:.*/, ''))

  /** The path of another endpoint that begins with it is not its own. */
  const isIn = (text: string, path: string): boolean => new RegExp(`${path}(?![\\w-])`).test(text)

  test('is specified, and one of the owner is on the page', () => {
    const [spec = '', page = ''] = ['docs/spec/auth.md', 'docs/auth.md'].map(readPage)
    expect(paths(routes).filter((path) => !isIn(spec, path))).toEqual([])
    expect(paths(ownerRoutes).filter((path) => !isIn(page, `/admin/v1${path}`))).toEqual([])
  })

  /** Each declared member of a query or a body, with the path of its endpoint. */
  const declared = routes.flatMap(({ at, io }) => {
    const [path = ''] = paths([{ at }])
    const names = [...Object.keys(io.query ?? {}), ...Object.keys(io.body?.members ?? {})]
    return names.map((name) => ({ path, name }))
  })
  const titled = ({ path, name }: { readonly path: string; readonly name: string }): string => `${path}: ${name}`

  /** The specification describes these once for all endpoints. */
  const common = ['redirect_to', 'code_challenge', 'code_challenge_method', 'phone']
  const mentions = (text: string, { path, name }: { readonly path: string; readonly name: string }): boolean =>
    isIn(text, path) && new RegExp(`\\b${name}\\b`).test(text)

  /** A section that names the endpoint in its heading, or a line or row that names it. */
  const places = [...authSpec.values()].flatMap((text) => {
    const [heading = '', ...lines] = text.split('\n')
    return [{ named: heading, place: text }, ...lines.map((line) => ({ named: line, place: line }))]
  })

  test('has members that the specification names where it names the endpoint', () => {
    const left = declared.filter(
      ({ path, name }) =>
        !common.includes(name) &&
        !places.some(({ named, place }) => isIn(named, path) && mentions(place, { path, name })),
    )
    expect(left.map(titled)).toEqual([])
  })

  test('for accounts and guests has members of which the specification says what they mean to a guest', () => {
    expect(notNamed(Object.keys(signUp.body.members), authSpec.get('4.3'))).toEqual([])
  })

  /** The client library has no second factors, and links no identity by an id token. */
  const unsent = ['challenge_id', 'issuer', 'link_identity']

  test('for users has members that the client library sends', () => {
    const names = declared.filter(({ path }) => !path.startsWith('/admin')).map(({ name }) => name)
    expect(sorted(new Set(notRead(names, 'runtime/client', ['dist'])))).toEqual(unsent)
  })

  test('has members that the product reads, and that a test of the endpoint sends', () => {
    const unread = notRead(
      declared.map(({ name }) => name),
      'runtime/auth',
      ['io/user.ts', 'io/admin.ts'],
    )
    expect(sorted(new Set(unread))).toEqual([])
    const tests = filesIn('test', '.ts').filter((text) => text.includes('auth'))
    const left = declared.filter((member) => !tests.some((text) => mentions(text, member)))
    expect(left.map(titled)).toEqual([])
  })
})

describe('a refusal of auth', () => {
  test('is specified by its code', () => {
    expect(notNamed(Object.keys(authErrors), readPage('docs/spec/auth.md'))).toEqual([])
  })
})

describe('a panel of the dashboard', () => {
  test('is visited by a browser, and described', () => {
    const rows = readPage('runtime/console/page/panels.tsx').matchAll(/\bname: '(\w+)', title: '([\w ]+)'/g)
    const panels = [...rows].map(([, name = '', title = '']) => ({ name, title }))
    expect(panels.length).toBeGreaterThan(5)
    const [visits, page] = ['test/support/dashboard.ts', 'docs/dashboard.md'].map(readPage)
    const described = page?.replace(/\s+/g, ' ')
    expect(panels.filter(({ name }) => !visits?.includes(`'${name}'`))).toEqual([])
    const steps = readPage('test/browser/dashboard.test.ts')
    expect(panels.filter(({ name, title }) => !steps.includes(`'${name}'`) && !steps.includes(`'${title}'`))).toEqual(
      [],
    )
    expect(panels.filter(({ title }) => !described?.includes(`**${title}**`))).toEqual([])
  })
})

describe('a command', () => {
  test('is run by a test', () => {
    const commands = [...readPage('compiler/commands/main.ts').matchAll(/\.(\w+Command)\b/g)].map(
      ([, name = '']) => name,
    )
    expect(commands.length).toBeGreaterThan(10)
    expect(notRead(commands, 'test', [])).toEqual([])
  })
})
