import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { sidebar } from './sidebar.mjs'

// What the build, its test and llms.txt ask about the pages. Paths are those of the repository, with slashes.

const root = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')

/** Pages outside docs/ that pages lead to, and where the site has them. */
const others = {
  'README.md': 'index.html',
  'CHANGELOG.md': 'changelog.html',
  'CONTRIBUTING.md': 'contributing.html',
  'SECURITY.md': 'security.html',
  'compiler/additions/README.md': 'writing-additions.html',
}
export const otherPages = Object.keys(others)

/** The address of a page within the site; undefined for a file that is none. */
export const addressOf = (path) => others[path] ?? /^docs\/(.*)\.md$/.exec(path)?.[1]?.concat('.html')

/** The first heading of a page. */
export const titleOf = (path) => /^# (.+)$/m.exec(read(path))?.[1] ?? path

/** The sections of the sidebar with the address and the title of each page. */
export const sections = () =>
  sidebar.map(({ title, pages }) => ({
    title,
    pages: pages.map((name) => ({ name, address: `${name}.html`, title: titleOf(`docs/${name}.md`) })),
  }))

/** The sentence of the README on each page. */
const lines = () =>
  new Map(
    [...read('README.md').matchAll(/^\| (\[.*\]\(docs\/.*) \| (.*) \|$/gm)].flatMap(([, links, line]) =>
      [...links.matchAll(/\(docs\/(.*?)\.md\)/g)].map(([, name]) => [name, line]),
    ),
  )

/** The list of pages for programs that read (llmstxt.org); links lead to the sources beside it. */
export function llmsText() {
  const [, head] = /^# .*\n\n([^]*?)\n\n/.exec(read('README.md')) ?? []
  const about = lines()
  const parts = sections().map(({ title, pages }) =>
    [`## ${title}`, '', ...pages.map((page) => `- [${page.title}](${page.name}.md): ${about.get(page.name)}`)].join(
      '\n',
    ),
  )
  return `${[`# ${titleOf('README.md')}`, `> ${(head ?? '').replaceAll('\n', ' ')}`, ...parts].join('\n\n')}\n`
}

/**
 * Where a link of a page leads in the site, and the file that it needs there; null: to a folder, which a site has not.
 * @param path of the page
 */
export function resolveLink(path, href) {
  if (/^(?:[a-z]+:|#)/.test(href)) return { href }
  const [target, hash] = href.split('#')
  const found = posix.join(posix.dirname(path), target)
  if (!existsSync(new URL(found, root))) throw new Error(`${path} leads to ${href}, which does not exist`)
  if (statSync(new URL(found, root)).isDirectory()) return null
  const address = addressOf(found) ?? copyOf(found)
  const from = posix.dirname(addressOf(path) ?? '')
  return {
    href: posix.relative(from, address) + (hash === undefined ? '' : `#${hash}`),
    ...(addressOf(found) === undefined && { file: found, copy: address }),
  }
}

/** As text, which browsers show whatever the name ends in. */
const copyOf = (path) => `files/${path}${path.endsWith('.png') ? '' : '.txt'}`

/** As GitHub makes the anchors of headings. */
export const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
