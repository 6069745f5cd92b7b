import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { ts } from 'ts-morph'
import { expect, test } from 'vitest'

/**
 * A red test is understood by its title alone: that and the titles around it are a sentence with a subject and a verb. A title that
 * begins with its verb has its subject in the title around it; any other is a sentence already.
 */

const auxiliaries =
  'is are was were be has have had does do did can cannot could may might must will would shall should need needs never'

/** The verbs of titles, as plurals have them. */
const verbs =
  `accept achieve act add adopt advise agree allow answer appear apply arrive ask await become begin believe belong bind block break bring build call
  cancel capture carry catch cause certify change charge check choose claim clear close collide come compare compile complain compute conceal concern
  confirm connect consume contain continue convert copy cost count cover create cut deal decide declare decode default defer delay delete demand deny
  depend derive describe detect differ disappear disconnect distinguish divide draw drop enable encode end enforce enrol enter equal escape estimate
  exceed exchange exclude execute exist expect expire explain expose extend fail fall fill filter find fit fold follow forbid forget free gain get give
  go govern grant group grow guarantee guard guess hand hang happen hash hear hide hit hold identify ignore imply import include inflect inherit insert
  invite iterate join judge keep know label lack land last lead learn leave lend let lie limit link list listen load lock log look lose lower make map
  mark match matter mean measure meet merge miss move multiply name narrow negotiate nest notice obey occur offer omit open outlive overlap own parse
  participate pass pause pay pick pin pose prepare preserve prevent print produce promise protect prove publish put quote raise reach read receive
  recognise recover redirect reduce refer refresh refuse register reject rely remain remember remove rename render renew repeat replace replay report
  represent require reserve reset resolve respect respond restore resume retry return reveal revoke roll rotate round run satisfy save say scan see
  select send separate serve set share shift show shrink sign skip sort speak spell split spoil spread stand start stay step stop store stream strip
  subscribe succeed suffice suggest sum support survive switch take terminate think throw time touch translate travel treat trigger trim trust try turn
  unite update upgrade use validate vanish vary verify visit wait wake walk want warn watch weigh win withdraw work wrap write yield`.split(
    /\s+/,
  )

const thirdPerson = (verb: string): string =>
  /(?:[sxz]|ch|sh|go)$/.test(verb) ? `${verb}es` : verb.replace(/([^aeiou])y$/, '$1ie') + 's'

const finite = new Set([...auxiliaries.split(' '), ...verbs, ...verbs.map(thirdPerson)])

const banned = /\b(?:whoever|whomever|anew|mend(?:s|ed|ing)?|tells?|told|by itself|of now)\b/i

interface Title {
  readonly file: string
  readonly around: readonly string[]
  readonly own: string
}

const calls = new Set(['describe', 'it', 'test'])

/** The name at the root of `it.each(...)('...')`; null for a call that is itself called. */
function nameOf(node: ts.CallExpression): string | null {
  if (node.arguments.length < 2) return null
  let root: ts.Expression = node
  while (ts.isCallExpression(root) || ts.isPropertyAccessExpression(root)) root = root.expression
  return ts.isIdentifier(root) &&
    calls.has(root.text) &&
    !(ts.isCallExpression(node.parent) && node.parent.expression === node)
    ? root.text
    : null
}

function textOf(node: ts.Expression | undefined): string {
  if (node === undefined) return ''
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `X${literal.text}`).join('')
  return ts.isCallExpression(node) ? textOf(node.arguments[0]) : node.getText()
}

function titlesOf(file: string): readonly Title[] {
  const titles: Title[] = []
  const visit = (node: ts.Node, around: readonly string[]): void => {
    const name = ts.isCallExpression(node) ? nameOf(node) : null
    if (name === null || !ts.isCallExpression(node)) return ts.forEachChild(node, (child) => visit(child, around))
    const own = textOf(node.arguments[0])
    if (name !== 'describe') titles.push({ file, around, own })
    for (const argument of node.arguments) visit(argument, name === 'describe' ? [...around, own] : around)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true), [])
  return titles
}

const files = execFileSync('git', ['ls-files', 'test'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.test\.tsx?$/.test(file) && existsSync(file))
const titles = files.flatMap(titlesOf)

/** Numbers of sections, attacks and facts do not count as words of the sentence. */
const wordsOf = (title: string): readonly string[] =>
  title
    .replace(/^(?:(?:law|(?:attack|fact)s? \d+|[\d.]+)(?:,|:| and)? )+/, '')
    .split(/[\s,:;()/]+/)
    .filter((word) => word !== '')

const isVerb = (word = ''): boolean => finite.has(word.toLowerCase())

function isSentence({ around, own }: Title): boolean {
  const words = wordsOf(own)
  return isVerb(words[0]) ? around.length > 0 : words.slice(1).some(isVerb)
}

const joined = ({ around, own }: Title): string => [...around, own].join(' ')
const shown = (title: Title): string => `${title.file}: ${[...title.around, title.own].join(' > ')}`

test('each title has a subject and a verb', () => {
  expect(titles.filter((title) => !isSentence(title) || wordsOf(joined(title)).length < 3).map(shown)).toEqual([])
})

test('no title has an idiom of this house, or begins with a question word', () => {
  const begins = ({ around, own }: Title): boolean =>
    [...around, own].some((part) => /^(?:what|who)\b/i.test(wordsOf(part)[0] ?? ''))
  expect(titles.filter((title) => banned.test(joined(title)) || begins(title)).map(shown)).toEqual([])
})

test('no two tests of a file have one title', () => {
  const all = titles.map(shown)
  expect(all.filter((title, place) => all.indexOf(title) !== place)).toEqual([])
})
