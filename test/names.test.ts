import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { ts } from 'ts-morph'
import { expect, test } from 'vitest'
import { groupBy } from '../runtime/lib/steps.ts'

/**
 * An exported name means one thing. Islands have words of their own, for what runs apart from the product or beside it:
 * the client library, the page in the browser and created applications.
 */
const islands = ['runtime/client/', 'runtime/console/page/', 'compiler/commands/create/templates/']

/** Imported as a whole, so that each name is said with that of its file: `io.signUp`. */
const namespaces = ['runtime/auth/io/', 'runtime/console/admin/io.ts', 'compiler/additions/']

/** Alike on purpose. */
const shared = [
  // Both refuse, each with the codes of its protocol.
  'refuse',
  // Names that the compiler prints in declarations of the runtime's builders.
  'Expression',
  'ColumnBuilder',
  'ComputedBuilder',
  'EntityBuilder',
  'CallBuilder',
  'AttributeBuilder',
]

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'compiler', 'runtime'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && existsSync(file))
  .filter((file) => ![...islands, ...namespaces].some((place) => file.startsWith(place)))

const exported = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

test('an exported name stands in one file', () => {
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(exported)) {
      places.set(name, (places.get(name) ?? new Set()).add(file))
    }
  }
  const several = [...places].filter(([name, where]) => where.size > 1 && !shared.includes(name))
  expect(several.map(([name, where]) => `${name}: ${[...where].join(', ')}`)).toEqual([])
})

const isFunction = ({ initializer: made }: ts.VariableDeclaration): boolean =>
  made !== undefined && (ts.isArrowFunction(made) || ts.isFunctionExpression(made))

function functionsOf(file: string): readonly string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? []
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations
      .filter(isFunction)
      .flatMap(({ name }) => (ts.isIdentifier(name) ? name.text : []))
  })
}

test('the name of a function stands in two files at most', () => {
  const { namesInMoreThanTwoFiles: most } = JSON.parse(readFileSync('test/budgets.json', 'utf8')) as {
    readonly namesInMoreThanTwoFiles: number
  }
  const places = groupBy(
    files.flatMap((file) => [...new Set(functionsOf(file))].map((name) => ({ file, name }))),
    ({ name }) => name,
  )
  const frequent = [...places].filter(([, where]) => where.length > 2)
  const list = frequent.map(([name, where]) => `${name}: ${where.map(({ file }) => file).join(', ')}`).join('\n')
  expect(
    frequent.length,
    `Unify them, or name what each does. This budget may only fall.\n${list}`,
  ).toBeLessThanOrEqual(most)
})
