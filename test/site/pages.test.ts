import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The table of the site and what is made of it, without the generator, which `npm run test:docs` installs. */

interface Section {
  readonly title: string
  readonly pages: readonly { readonly name: string; readonly address: string; readonly title: string }[]
}

const pages = (await import(new URL('../../site/pages.mjs', import.meta.url).href)) as {
  readonly otherPages: readonly string[]
  readonly sections: () => readonly Section[]
  readonly llmsText: () => string
  readonly slugOf: (heading: string) => string
  readonly resolveLink: (
    path: string,
    href: string,
  ) => { readonly href: string; readonly file?: string; readonly copy?: string } | null
}

const docs = new URL('../../docs/', import.meta.url)
const names = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.replace(/\.md$/, ''))

describe('the sidebar', () => {
  it('has each page once', () => {
    const listed = pages.sections().flatMap((section) => section.pages)
    expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect(listed.filter(({ title }) => title === '' || /\.md$/.test(title))).toEqual([])
  })

  it('begins with what a newcomer needs', () => {
    expect(pages.sections()[0]?.pages[0]?.title).toBe('Start')
  })
})

describe('llms.txt', () => {
  it('has the page of each link, with a sentence of its own', () => {
    const text = pages.llmsText()
    expect(text).toMatch(/^# Catalograph\n\n> Catalograph gives a Postgres database a GraphQL API/)
    const rows = [...text.matchAll(/^- \[(.+)\]\((.+)\.md\): (.+)$/gm)].map(([, , name = '', line = '']) => ({
      name,
      line,
    }))
    expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    expect(rows.filter(({ line }) => line.length < 10 || line === 'undefined')).toEqual([])
  })
})

describe('links of pages', () => {
  it.each([
    ['docs/start.md', 'auth.md#configure-it', 'auth.html#configure-it'],
    ['docs/spec/graphql.md', '../api.md', '../api.html'],
    ['README.md', 'docs/spec/auth.md', 'spec/auth.html'],
    ['docs/commands.md', '../README.md#your-own-database', 'index.html#your-own-database'],
    ['docs/start.md', '#tests', '#tests'],
    ['docs/start.md', 'https://example.com/a.md', 'https://example.com/a.md'],
  ])('of %s to %s lead to %s', (path, href, address) => {
    expect(pages.resolveLink(path, href)).toEqual({ href: address })
  })

  it('bring along the files that they lead to', () => {
    const copy = 'files/docs/deploy/Caddyfile.txt'
    expect(pages.resolveLink('docs/deploy.md', 'deploy/Caddyfile')).toEqual({
      href: copy,
      file: 'docs/deploy/Caddyfile',
      copy,
    })
    expect(pages.resolveLink('docs/deploy.md', 'deploy/helm')).toBeNull()
  })

  it('are refused where they lead nowhere', () => {
    expect(() => pages.resolveLink('docs/start.md', 'nowhere.md')).toThrow('docs/start.md leads to nowhere.md')
  })

  it('resolve on every page', () => {
    const paths = [...names.map((name) => `docs/${name}.md`), ...pages.otherPages]
    const linksOf = (path: string): readonly string[] => {
      const text = readFileSync(new URL(`../${path}`, docs), 'utf8').replace(/```[^]*?```|`[^`\n]*`/g, '')
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href)
    }
    const found = paths.flatMap((path) => linksOf(path).map((href) => pages.resolveLink(path, href)))
    expect(found.length).toBeGreaterThan(200)
  })

  it('name headings as GitHub does', () => {
    expect(pages.slugOf('REST (`/rest/v1`)')).toBe('rest-restv1')
  })
})
