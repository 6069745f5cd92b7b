import type { HtmlToTextOptions } from 'html-to-text'
import { once } from '../../lib/once.ts'

/** Megabytes that a server without mails need not hold. */
const converter = once(async () => (await import('html-to-text')).compile(options))

const asWritten = { uppercase: false }

const options: HtmlToTextOptions = {
  // Mail programs wrap lines themselves, and an address that is broken in two is useless.
  wordwrap: false,
  // The converter recurses; text that is nested deeper than this is not read by anyone.
  limits: { maxDepth: 200 },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['(', ')'] } },
    { selector: 'img', options: { linkBrackets: ['(', ')'] } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: asWritten })),
  ],
}

/**
 * The text part of an HTML mail: addresses of links follow their words. Our own link, which the mail is about, is
 * always there, even where the HTML has it in a place that is not shown.
 */
export async function plainText(html: string): Promise<string> {
  const text = (await converter())(html.replace(unprintable, ' ')).trim()
  const hidden = linksOf(html).filter((link) => !text.includes(link))
  return [text, ...new Set(hidden)].join('\n\n')
}

/** Parts of the text come from the recipient or a stranger: none of them may steer a terminal. */
const unprintable = /[^\P{Cc}\n]/gu

/** As variables.ts writes them, escaped by template.ts. */
const ourLink = /https?:\/\/[^\s"'<>]*?\/verify\?token=[^\s"'<>]*/g

const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(ourLink)].map(([link]) => link.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
