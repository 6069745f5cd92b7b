import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The lines that people must read do not grow unnoticed: test/budgets.json holds their highest number. */

interface Budget {
  readonly most: number
  /** The capabilities for which it grew. */
  readonly because: readonly string[]
}

const budgets = JSON.parse(readFileSync(new URL('budgets.json', import.meta.url), 'utf8')) as {
  readonly lines: Readonly<Record<string, Budget>>
}

/**
 * Which tracked files count; a file counts for the first kind that matches. A capability that no request uses has its
 * own budget, its tests included.
 */
const counted: Readonly<Record<string, RegExp>> = {
  importers: /^(?:test\/)?compiler\/commands\/import\b.*\.(?:tsx?|mjs)$/,
  'created applications': /^(?:test\/)?compiler\/commands\/(?:create|dev)\b.*\.(?:tsx?|mjs|css|html)$/,
  'workflow of checks': /^(?:test\/)?compiler\/commands\/check\b.*\.(?:tsx?|mjs)$/,
  'tests of policies': /^(?:test\/)?compiler\/commands\/policies\b.*\.(?:tsx?|mjs)$/,
  'hooks for React': /^(?:test\/)?runtime\/client\/react\b.*\.(?:tsx?|mjs)$/,
  'site of the docs': /^(?:(?:test\/)?site\/|(?:test\/)?runtime\/console\/docs\b).*\.(?:tsx?|mjs|js|css|njk)$/,
  product: /^(?:compiler|runtime)\/.*\.(?:tsx?|mjs)$/,
  tests: /^test\/(?!reference\/).*\.(?:tsx?|mjs)$/,
  reference: /^test\/reference\/.*\.(?:tsx?|mjs)$/,
  fixtures: /^fixtures\//,
  generated: /^generated\//,
}

const root = new URL('..', import.meta.url).pathname
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')

const kindOf = (file: string): string | undefined =>
  Object.keys(counted).find((kind) => counted[kind]?.test(file) ?? false)

/** As `wc -l` counts them. */
const linesOf = (kind: string): number =>
  tracked
    .filter((file) => kindOf(file) === kind)
    .map((file) => join(root, file))
    .filter((path) => existsSync(path))
    .reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0)

test('each kind of file has a budget', () => {
  expect(Object.keys(budgets.lines).sort()).toEqual(Object.keys(counted).sort())
})

test.each(Object.keys(counted))('%s keep to their budget of lines', (kind) => {
  const { most = 0 } = budgets.lines[kind] ?? {}
  const lines = linesOf(kind)
  const advice =
    `${kind}: ${lines} lines, and the budget is ${most}. A budget may only fall. Remove what is not needed; if a capability ` +
    `needs more, raise "most" of "${kind}" in test/budgets.json and name the capability in its "because".`
  expect(lines <= most, advice).toBe(true)
})
