import { readFileSync } from 'node:fs'

/** A code block of a page. */
export interface Example {
  /** The language behind the fence; empty for output and pictures. */
  readonly language: string
  readonly text: string
}

/** The pages that have an example of each addition, one after the other. */
export const additionPages: readonly string[] = [
  'docs/additions.md',
  'docs/filters.md',
  'docs/groups.md',
  'docs/relations.md',
  'docs/shapes.md',
  'docs/writes.md',
]

/** @param path from the root of the repository */
export const readPage = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export const examplesIn = (page: string): readonly Example[] =>
  [...page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }))

export const demoSql = (): string => readPage('fixtures/demo/schema.sql') + readPage('fixtures/demo/seed.sql')

/** The code that an example is refused with, which it says in a comment; undefined where it is answered. */
export const refusalOf = (text: string): string | undefined => /# refused.*: (\w+)$/m.exec(text)?.[1]

/** The commands of a shell example, each as its words: quotes are taken off, comments and redirections left out. */
export const commandsIn = (text: string): readonly (readonly string[])[] =>
  text
    .replace(/<<'(\w+)'\n[^]*?^\1$/gm, '')
    .replace(/\\\n/g, ' ')
    .split(/\n|&&/)
    .map(wordsOf)
    .filter((words) => words.length > 0)

const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/(^|\s)#\s.*$/, '').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)]
    .map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, (_all, single = '', double = '') => single + double))
    .flatMap((word, index, words) => (/^[<>]$/.test(word) || /^[<>]$/.test(words[index - 1] ?? '') ? [] : [word]))
