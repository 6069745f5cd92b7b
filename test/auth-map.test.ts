import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { ts } from 'ts-morph'
import { describe, expect, it } from 'vitest'

/**
 * The specification numbers the attacks that auth survives (spec/auth.md 15) and the facts that an application relies
 * on (spec/auth.md 16). The title of a test names those that it holds: `fact 12:`, `attack 9, facts 50, 52:`.
 */
const specification = readFileSync('docs/spec/auth.md', 'utf8')
const numbered = { fact: numbersOfSection(16), attack: numbersOfSection(15) } as const
type Kind = keyof typeof numbered

const titles = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'test/**/*.test.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(file))
  .flatMap(titlesOf)

describe('the map of auth', () => {
  it.each(['fact', 'attack'] as const)('has a test for every %s', (kind) => {
    const named = new Set(titles.flatMap((title) => numbersIn(title, kind)))
    const all = numbered[kind]
    expect(all.length).toBeGreaterThan(40)
    expect(all.filter((n) => !named.has(n))).toEqual([])
    expect([...named].filter((n) => !all.includes(n))).toEqual([])
  })

  it('reads titles as people do', () => {
    const title = 'attack 9, facts 50, 52 and 53: five guesses of 10 are enough'
    expect([numbersIn(title, 'fact'), numbersIn(title, 'attack')]).toEqual([[50, 52, 53], [9]])
  })
})

/** The first column of the table in a section. */
function numbersOfSection(section: number): readonly number[] {
  const text = specification.split(/^## /m).find((part) => part.startsWith(`${section}. `)) ?? ''
  return [...text.matchAll(/^\| (\d+) \|/gm)].map(([, n]) => Number(n))
}

function numbersIn(title: string, kind: Kind): readonly number[] {
  const lists = title.matchAll(new RegExp(`\\b${kind}s? (\\d+(?:(?:, | and )\\d+)*)`, 'g'))
  return [...lists].flatMap(([, list = '']) => list.split(/\D+/).map(Number))
}

/** The titles of the tests of a file; skipped and unwritten tests do not count. */
function titlesOf(file: string): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) && /^(it|test)$/.test(runnerOf(node.expression)) ? node.arguments[0] : null
    if (title && ts.isStringLiteralLike(title)) found.push(title.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest))
  return found
}

/** `it` of `it(…)` and of `it.each(…)(…)`; of anything else its text. */
function runnerOf(callee: ts.Expression): string {
  if (!ts.isCallExpression(callee)) return ts.isIdentifier(callee) ? callee.text : ''
  const { expression } = callee
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'each') return ''
  return runnerOf(expression.expression)
}
