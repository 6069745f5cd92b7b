import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Commits can be read: a subject under 72 characters, and a body that says why (CONTRIBUTING.md, Style). */

/** The rule is younger than the project. */
const first = 'b1a70bcaafa3b18ac88a3ff526db689b077515d4'

const git = (...args: readonly string[]): string => {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return ''
  }
}

/** The commits since the rule; none in a folder without that history. */
const commits = (): readonly (readonly string[])[] => {
  if (git('cat-file', '-t', first).trim() !== 'commit') return []
  return git('log', '--no-merges', '--format=%h%x00%s%x00%b%x01', `${first}..HEAD`)
    .split('\x01')
    .map((entry) => entry.trim().split('\0'))
    .filter(([hash]) => hash !== '')
}

test('a commit has a subject of at most 72 characters, and a body', () => {
  const unreadable = commits().filter(([, subject = '', body = '']) => subject.length > 72 || body.trim() === '')
  expect(unreadable.map(([hash, subject]) => `${hash} ${subject}`)).toEqual([])
})
