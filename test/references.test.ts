import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { numbersIn, readDocument, resolves, type Document } from './support/references/documents.ts'
import { remarksOf } from './support/references/remarks.ts'

/**
 * Whatever a comment or the title of a test refers to exists. A reference has one form: a document and what it means in
 * it, `spec/graphql.md 4.2, 4.3`, `spec/graphql.md, decision 7`, `spec/auth.md 5.4, attack 41`, `engine.md 4`. Titles
 * are shorter: a number in front or in parentheses belongs to spec/graphql.md, facts and attacks to spec/auth.md.
 */
const documents: Readonly<Record<string, Document>> = {
  'spec/graphql.md': readDocument('docs/spec/graphql.md'),
  'spec/auth.md': readDocument('docs/spec/auth.md'),
  'engine.md': readDocument('docs/engine.md'),
}

const numbers = String.raw`\d+(?:\.\d+)*(?:(?:, | and | to )\d+(?:\.\d+)*)*`
const reference = new RegExp(
  String.raw`(?<document>(?:spec/)?\w+\.md)(?: (?<sections>${numbers}))?` +
    String.raw`(?:, (?<kind>decision|attack|fact|row|step)s? (?<items>${numbers}))?`,
  'g',
)

/** Other publications have numbers of their own: left out up to the end of the parenthesis or of the sentence. */
const publishers =
  'RFC \\d+|[Mm]anual|ECMA-262|Core 1\\.0|GraphQL specification|October 2021|GraphQL over HTTP|HTML [Ss]tandard|WCAG|OpenAPI|draft'
const published = new RegExp(String.raw`(?:${publishers})(?:'s [a-z]+ \([^()]*|[^();]*)`, 'g')

/** References in another form; text in backquotes is an example. */
const stray = /\b(?:sections?|attacks?|facts?|decisions?|spec) \d[\d.]*|(?<= )\(\d+(?:\.\d+)+[^\s)]*/gi
const withoutKnown = (text: string): string =>
  text
    .replace(reference, '')
    .replace(/`[^`]*`/g, '')
    .replace(published, '')

const tracked = (...paths: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => existsSync(file) && file !== '')

const sources = tracked('compiler', 'runtime', 'test', 'bench', 'fixtures').filter(
  (file) => /\.(?:tsx?|mjs|sql)$/.test(file) && !file.includes('/expected/'),
)
const pages = tracked('*.md').filter((file) => !/^(?:fixtures|node_modules)\//.test(file))
const remarks = sources.flatMap(remarksOf)
const comments = remarks.filter(({ kind }) => kind === 'comment')
const titles = remarks.filter(({ kind }) => kind === 'title')

describe('references', () => {
  it('of comments resolve', () => {
    const found = comments.flatMap(({ text, at }) => [...text.matchAll(reference)].map((match) => ({ match, at })))
    expect(found.filter(({ match }) => match.groups?.['sections'] ?? match.groups?.['items']).length).toBeGreaterThan(
      100,
    )
    expect(found.flatMap(({ match, at }) => problemsOf(match).map((problem) => `${at}: ${problem}`))).toEqual([])
  })

  it('of titles resolve', () => {
    expect(titles.flatMap(({ text, at }) => problemsOfTitle(text).map((problem) => `${at}: ${problem}`))).toEqual([])
  })

  it('have one form', () => {
    const others = comments.flatMap(({ text, at }) =>
      [...withoutKnown(text).matchAll(stray)].map(([shown]) => `${at}: ${shown}`),
    )
    expect(others).toEqual([])
  })

  it('of pages lead to files and headings', () => {
    const broken = pages.flatMap((page) =>
      linksOf(page)
        .filter((link) => !leads(page, link))
        .map((link) => `${page}: ${link}`),
    )
    expect(pages.length).toBeGreaterThan(15)
    expect(broken).toEqual([])
  })

  it('of pages lead to each page', () => {
    const targets = pages.flatMap((page) => linksOf(page).map((link) => targetOf(page, link.split('#')[0] ?? '')))
    expect(pages.filter((page) => page.startsWith('docs/') && !targets.includes(page))).toEqual([])
  })

  /** Folders that a run of a benchmark or of the tests of the dashboard writes. */
  const written = ['bench/records/', 'test/browser/screenshots/']

  /** A page may name a file by the end of its path. */
  it('of pages name files that exist', () => {
    const all = tracked().map((file) => `/${file}`)
    const exists = (name: string): boolean =>
      all.some((file) => file.endsWith(`/${name}`) || file.includes(`/${name.replace(/\/$/, '')}/`))
    const paths =
      /`((?:compiler|runtime|test|bench|docs|fixtures|generated)\/[\w./-]*|(?:[\w-]+\/)*[\w-]+(?:\/|\.(?:tsx?|mjs)))`/g
    const named = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(paths)].map(([, name = '']) => ({ page, name })),
    )
    expect(named.length).toBeGreaterThan(100)
    const has = (file: string, name: string): boolean =>
      all.some((path) => path.endsWith(`/${file}`) && readFileSync(`.${path}`, 'utf8').includes(name))
    const calls = pages.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/`([\w/-]+\.tsx?)` `(\w+)`/g)])
    expect(calls.flatMap(([call, file = '', name = '']) => (has(file, name) ? [] : [call]))).toEqual([])
    const lost = named.filter(({ name }) => !/[A-Z]{4}/.test(name) && !written.includes(name) && !exists(name))
    expect(lost.map(({ page, name }) => `${page}: ${name}`)).toEqual([])
  })
})

function problemsOf({ 0: shown, groups = {} }: RegExpExecArray): readonly string[] {
  const document = documents[groups['document'] ?? '']
  const sections = numbersIn(groups['sections'] ?? '')
  const items = numbersIn(groups['items'] ?? '')
  if (sections.length + items.length === 0) return []
  if (document === undefined) return [`${shown}: there is no such document`]
  const missing = sections.filter((section) => !resolves(document, { section }))
  const kind = groups['kind'] ?? ''
  const lost = items.filter((item) => !resolves(document, { kind, item, section: sections[0] ?? '' }))
  return [...missing, ...lost].map((number) => `${shown}: there is no ${number}`)
}

function problemsOfTitle(title: string): readonly string[] {
  const numbered = [...title.matchAll(/^\d+\.\d+(?:\.\d+)?(?:(?:, | and )\d+\.\d+(?:\.\d+)?)*|(?<=\()\d+\.\d+(?=\))/g)]
  const named = [...title.matchAll(/\b(fact|attack)s? (\d+(?:(?:, | and )\d+)*)/g)]
  return [
    ...[...title.matchAll(reference)].flatMap(problemsOf),
    ...numbered.flatMap(([list]) => problemsOf(toMatch(`spec/graphql.md ${list}`))),
    ...named.flatMap(([, kind, list]) => problemsOf(toMatch(`spec/auth.md, ${kind} ${list}`))),
  ]
}

function toMatch(text: string): RegExpExecArray {
  const [match] = text.matchAll(reference)
  if (match === undefined) throw new Error(`${text} is no reference`)
  return match
}

const linksOf = (page: string): readonly string[] =>
  [
    ...readFileSync(page, 'utf8')
      .replace(/^```[^]*?^```$/gm, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))

const targetOf = (page: string, path: string): string => (path === '' ? page : normalize(join(dirname(page), path)))

function leads(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = targetOf(page, path)
  if (!existsSync(file)) return false
  return anchor === undefined || anchorsOf(file).includes(anchor)
}

/** As GitHub makes them. */
const anchorsOf = (page: string): readonly string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/ /g, '-'),
  )
