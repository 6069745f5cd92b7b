import type { HtmlToTextOptions } from 'html-to-text'
import { once } from '../../lib/caches.ts'

/** Megabytes that a server without mails need not load. */
const converter = once(async () => (await import('html-to-text')).compile(options))

const asWritten = { uppercase: false }

const options: HtmlToTextOptions = {
  // Mail programs wrap lines themselves, and a broken address is useless.
  wordwrap: false,
  // The converter is recursive; deeper text has no readers.
  limits: { maxDepth: 200 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['(', ')'] } },
    { selector: 'img', options: { linkBrackets: ['(', ')'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: asWritten })),
  ],
}

/**
 * The text part of an HTML mail: addresses of links follow their words. Our own link, the subject of the mail, is
 * always included, even if the HTML does not show it.
 */
export async function plainText(html: string): Promise<string> {
  const text = (await converter())(html.replace(unprintable, ' ')).trim()
  const hidden = linksOf(html).filter((link) => !text.includes(link))
  return [text, ...new Set(hidden)].join('\n\n')
}

/** Parts of the text come from the recipient or a stranger: control characters could affect a terminal. */
const unprintable = /[^\P{Cc}\n]/gu

/** As variables.ts writes them, escaped by template.ts. */
const ourLink = /https?:\/\/[^\s"'<>]*?\/verify\?token=[^\s"'<>]*/g

const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(ourLink)].map(([link]) => link.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
