import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/**
 * Comments and pages are written in standard English (docs/words.md). Idioms of this house are banned, or may only become fewer:
 * test/budgets.json holds how often they still occur.
 */

const root = new URL('..', import.meta.url)
const banned = /\b(?:whoever|whomever|anew|mend(?:s|ed|ing)?)\b/i
const idioms: Readonly<Record<string, RegExp>> = {
  'tell, told': /\b(?:tells?|told|telling)\b/gi,
  'by itself, of now': /\b(?:by itself|of now)\b/gi,
  meanwhile: /\bmeanwhile\b/gi,
  'nobody, somebody': /\b(?:no|some|every|any)body\b/gi,
  'another one': /\banother one\b/gi,
  'has to': /\bhas to\b/gi,
  'Who as a subject': /(?:^\W*|[.:] )Who\b/g,
  'What as a subject': /(?:^\W*|[.:] )What\b(?! \|)/g,
  'is no, are no': /(?<!\bthere )\b(?:is|are) no\b(?! (?:longer|more)\b)/gi,
}
const { words } = JSON.parse(readFileSync(new URL('test/budgets.json', root), 'utf8')) as {
  readonly words: Readonly<Record<string, number>>
}

const folders = ['compiler', 'runtime', 'test', 'bench', 'docs', 'README.md', 'CONTRIBUTING.md']
const paths = execFileSync('git', ['ls-files', ...folders], { cwd: root.pathname, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(?:ts|tsx|mjs|md)$/.test(path) && path !== 'docs/words.md' && path !== 'test/words.test.ts')

/** Prose of a page without its code, or comments of a module. */
function proseOf(path: string): readonly string[] {
  const text = readFileSync(new URL(path, root), 'utf8')
  if (path.endsWith('.md'))
    return text
      .replace(/^```[\s\S]*?^```/gm, '')
      .replace(/`[^`\n]*`/g, '')
      .split('\n')
  return text.split('\n').flatMap((line) => /^\s*(?:\/\*\*|\*|\/\/)(.*)$/.exec(line)?.[1] ?? [])
}

const prose = paths.flatMap((path) => proseOf(path).map((line) => ({ path, line })))

it('no comment and no page has a banned word', () => {
  expect(prose.filter(({ line }) => banned.test(line)).map(({ path, line }) => `${path}: ${line.trim()}`)).toEqual([])
})

it.each(Object.entries(idioms))(
  '"%s" occurs in comments and pages at most as often as its budget says',
  (name, idiom) => {
    const count = prose.reduce((sum, { line }) => sum + (line.match(idiom)?.length ?? 0), 0)
    expect(count, `${name}: ${count}; a budget may only fall`).toBeLessThanOrEqual(words[name] ?? 0)
  },
)
