import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { additions, commentKeys } from '../compiler/additions/table.ts'
import { textsIn } from './support/texts.ts'

/** An addition is a folder of compiler/additions/ and its row there; facilities of the core that only read its facts are listed in test/budgets.json. */

const { facilities } = (
  JSON.parse(readFileSync(new URL('budgets.json', import.meta.url), 'utf8')) as {
    readonly additions: Readonly<Record<'facilities', readonly string[]>>
  }
).additions

const root = new URL('../', import.meta.url)
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Keys of pg_graphql, and those of the same kind. */
const core = [
  ...['inflect_names', 'introspection', 'max_rows', 'validation', 'name', 'description', 'totalCount', 'aggregate'],
  ...['primary_key_columns', 'foreign_keys', 'mappings', 'foreign_name', 'local_name'],
]

/** The same few files in each folder; a long stage has parts. */
const stages = /^(?:addition|decode|facts|(?:plan|schema|statements)(?:-[a-z-]+)?)\.ts$/

const folders = readdirSync(new URL('compiler/additions', root), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)

describe('an addition', () => {
  test('is a folder', () => {
    const beyond = [...new Set(commentKeys.keys.map(({ key }) => key))].filter((key) => !core.includes(key))
    expect(additions.map(({ name }) => name).sort()).toEqual(beyond.sort())
    expect(additions.map(({ name }) => kebab(name)).sort()).toEqual([...folders].sort())
  })

  test('has its key, and no files but those of the stages', () => {
    expect(additions.filter(({ name, keys }) => keys.some(({ key }) => key !== name))).toEqual([])
    const files = folders.flatMap((folder) => readdirSync(new URL(`compiler/additions/${folder}`, root)))
    expect(files.filter((file) => !stages.test(file))).toEqual([])
  })

  test('is asked for by an operation of its case, or by a test', () => {
    const operations = (folder: string): readonly string[] => {
      const place = new URL(`fixtures/${folder}/operations/`, root)
      return existsSync(place) ? readdirSync(place) : []
    }
    const tests = textsIn('test/runtime', '.test.ts')
    const asked = (name: string): boolean =>
      operations(kebab(name)).length > 0 || new RegExp(`\\b${name}"?: `).test(tests)
    expect(additions.map(({ name }) => name).filter((name) => !asked(name))).toEqual([])
  })

  test('knows no other addition', () => {
    const texts = folders.flatMap((folder) =>
      readdirSync(new URL(`compiler/additions/${folder}`, root)).map((file) => `compiler/additions/${folder}/${file}`),
    )
    const imports = texts.filter((path) =>
      /from '\.\.\/(?!addition\.ts'|\.\.\/)/.test(readFileSync(new URL(path, root), 'utf8')),
    )
    expect(imports).toEqual([])
  })

  test('gives its name to no file elsewhere in the compiler and what it shares with the runtime', () => {
    const rooms = /^(compiler\/(comments|model|emit)|runtime\/(contract|sql|engine|graphql))\//
    const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n')
    const named = tracked.filter((path) => rooms.test(path) && existsSync(new URL(path, root))).filter(isNamed)
    const isOf = (path: string, facility: string): boolean => path === facility || path.startsWith(`${facility}/`)
    expect(facilities.filter((facility) => !named.some((path) => isOf(path, facility)))).toEqual([])
    expect(named.filter((path) => !facilities.some((facility) => isOf(path, facility)))).toEqual([])
  })
})

const isNamed = (path: string): boolean =>
  path.split('/').some((part) => folders.some((folder) => part === folder || part.startsWith(`${folder}.`)))
