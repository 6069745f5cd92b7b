import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { IdAttributePlugin } from '@11ty/eleventy'
import { addressOf, llmsText, otherPages, resolveLink, sections, slugOf, titleOf } from './pages.mjs'

// Eleventy runs in the root of the repository (build.mjs): docs/ is its input, dist/docs its output.

const site = fileURLToPath(new URL('.', import.meta.url))
const root = join(site, '..')

/** @param {import('@11ty/eleventy').UserConfig} config */
export default function configure(config) {
  const copies = new Map()
  const found = []
  config.setUseGitIgnore(false)
  config.addPlugin(IdAttributePlugin, { slugify: slugOf, selector: 'h1,h2,h3,h4', checkDuplicates: false })
  config.addGlobalData('layout', 'layout.njk')
  config.addGlobalData('sections', sections)
  const pathOf = ({ inputPath }) => inputPath.replace(/^\.\//, '')
  config.addGlobalData('eleventyComputed', {
    title: ({ page, source }) => titleOf(source ?? pathOf(page)),
    permalink: ({ page, source }) => addressOf(source ?? pathOf(page)),
    up: ({ page, source }) => '../'.repeat(addressOf(source ?? pathOf(page)).split('/').length - 1),
  })
  for (const source of otherPages)
    config.addTemplate(`${slugOf(source)}.md`, readFileSync(join(root, source), 'utf8'), { source })
  config.amendLibrary('md', ({ renderer }) => {
    /** Changes a token before its usual rule prints it. */
    const before = (name, change) => {
      const usual = renderer.rules[name] ?? ((tokens, index, options) => renderer.renderToken(tokens, index, options))
      renderer.rules[name] = (tokens, index, options, env, self) => {
        change(tokens[index], env)
        return usual(tokens, index, options, env, self)
      }
    }
    const leading = (attribute) => (token, env) => {
      const link = resolveLink(env.source ?? pathOf(env.page), token.attrGet(attribute))
      if (link === null) token.attrs = []
      else token.attrSet(attribute, link.href)
      if (link?.file !== undefined) copies.set(link.copy, link.file)
    }
    before('link_open', leading('href'))
    before('image', leading('src'))
    // The policy of the service refuses styles of elements.
    const aligned = (token) => {
      const [, side] = /text-align:(\w+)/.exec(token.attrGet('style') ?? '') ?? []
      token.attrs = side === undefined ? null : [['class', side]]
    }
    before('th_open', aligned)
    before('td_open', aligned)
    const { fence } = renderer.rules
    // A key scrolls what the pointer can.
    renderer.rules.fence = (...given) => fence(...given).replace('<pre>', '<pre tabindex="0">')
  })
  config.on('eleventy.after', ({ directories, results }) => {
    const out = (path) => {
      mkdirSync(dirname(join(directories.output, path)), { recursive: true })
      return join(directories.output, path)
    }
    for (const { url, content } of results) found.push(...searchable(url.slice(1) || 'index.html', content))
    writeFileSync(out('search.json'), JSON.stringify(found))
    writeFileSync(out('llms.txt'), llmsText())
    for (const [copy, file] of copies) cpSync(join(root, file), out(copy))
    for (const file of readdirSync(join(root, 'docs'), { recursive: true }))
      if (file.endsWith('.md')) cpSync(join(root, 'docs', file), out(file))
    for (const file of ['style.css', 'search.js']) cpSync(join(site, 'page', file), out(file))
    cpSync(fileURLToPath(import.meta.resolve('minisearch')), out('minisearch.js'))
  })
  return { dir: { includes: posix.join('..', 'site', 'page') }, markdownTemplateEngine: false, templateFormats: ['md'] }
}

/** The sections of a page: each heading with its anchor and the text below it. */
function searchable(address, html) {
  const [, main = ''] = /<main[^>]*>([^]*)<\/main>/.exec(html) ?? []
  const [, page = ''] = /<h1[^>]*>(.*?)<\/h1>/.exec(main) ?? []
  return main
    .split(/(?=<h[1-4] id=")/)
    .map((part) => /^<h[1-4] id="(.*?)"[^>]*>(.*?)<\/h[1-4]>([^]*)$/.exec(part))
    .filter((part) => part !== null)
    .map(([, id, heading, text]) => ({
      id: `${address}#${id}`,
      page: plain(page),
      title: plain(heading),
      text: plain(text),
    }))
}

const entities = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&#39;': "'" }
const plain = (html) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(?:lt|gt|amp|quot|#39);/g, (entity) => entities[entity])
    .replace(/\s+/g, ' ')
    .trim()
