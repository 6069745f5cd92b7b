import pluralize from 'pluralize'
import { lowerFirst, rootField, upperFirst } from '../../../../runtime/contract/name-parts.ts'
import { inflect } from '../../../model/names.ts'

/** A valid GraphQL name: ASCII letters, digits and underscores, not beginning with a digit or two underscores. */
export function spellable(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^_0-9A-Za-z]+/g, '_')
    .replace(/^_+(?=.)/, '_')
  if (plain === '' || plain === '_') return 'unnamed'
  return /^\d/.test(plain) ? `_${plain}` : plain
}

/** In the style of a schema: `begin_area` is `beginArea` with inflection. */
const fieldStyle = (name: string, inflected: boolean): string => (inflected ? lowerFirst(inflect(name)) : name)

const joinWords = (inflected: boolean, ...words: readonly string[]): string =>
  inflected ? lowerFirst(words.map((word) => upperFirst(inflect(word))).join('')) : words.join('_')

export interface KeyColumns {
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
}

/** `item_id` and `itemId` are named `item`, and so is `itemid` if the referenced column is spelt so too. */
const withoutId = ({ columns, foreignColumns }: KeyColumns): readonly string[] =>
  columns.map((column, place) =>
    spellable(
      column.replace(/[^_]id$/.test(foreignColumns[place] ?? '') ? /(?<=.)(?:_?id|Id)$/ : /(?<=.)(?:_id|Id)$/, ''),
    ),
  )

const columnsText = (key: KeyColumns): string => withoutId(key).join('_and_')

/** The field of a foreign key on its table: named by its columns, then by its target. */
export const forwardCandidates = (key: KeyColumns, target: string, inflected: boolean): readonly string[] => [
  ...(key.columns.length === 1 ? withoutId(key).map((name) => fieldStyle(name, inflected)) : []),
  joinWords(inflected, lowerFirst(target), 'by', columnsText(key)),
]

export const reverseCandidates = (
  child: string,
  key: KeyColumns,
  single: boolean,
  inflected: boolean,
): readonly string[] => {
  const name = joinWords(inflected, lowerFirst(child), 'by', columnsText(key))
  return [single ? name : rootField('collection', name)]
}

/** The last word of a name in any style: `posts` of `blog_posts` and of `BlogPosts`. */
const lastWord = /(?:\p{Lu}?\p{Ll}+|\p{Lu}+)$/u

const withLastWord = (name: string, change: (word: string) => string): string => name.replace(lastWord, change)

/** `data` and `media` are singular and plural: words in -a stay, and so do abbreviations such as `os` and `sms`. */
const isPlural = (word: string): boolean =>
  word.length > 3 && !/a$/i.test(word) && pluralize.isPlural(word) && !pluralize.isSingular(word)

/** `blog_post` of `blog_posts`; a name that is not a plural stays. */
export const singularOf = (name: string): string =>
  withLastWord(name, (word) => (isPlural(word) ? pluralize.singular(word) : word))

const pluralOf = (name: string): string => withLastWord(name, (word) => pluralize.plural(word))

/**
 * The field of many rows, as a word instead of `Collection`: `posts`; for several, `postsByEditor`.
 * @param isPlain whether its columns are named after the target
 */
export const manyCandidates = (
  child: string,
  key: KeyColumns,
  isPlain: boolean,
  inflected: boolean,
): readonly string[] => {
  const many = pluralOf(lowerFirst(child))
  return [...(isPlain ? [many] : []), joinWords(inflected, many, 'by', columnsText(key))]
}

/**
 * A column whose field is taken. A column of a foreign key contains the key of a row; other columns get the spelling of
 * the database, if that differs.
 */
export const columnCandidates = (column: string, isKey: boolean, inflected: boolean): readonly string[] =>
  isKey
    ? ['id', 'key', 'value'].map((word) => joinWords(inflected, spellable(column), word))
    : [spellable(column), joinWords(inflected, spellable(column), 'column')]

export const functionCandidates = (field: string, place: string, inflected: boolean): readonly string[] => [
  joinWords(inflected, 'computed', field),
  joinWords(inflected, field, 'of', place),
]

export const typeCandidates = (schema: string, name: string, inflected: boolean): readonly string[] => {
  const whole = joinWords(inflected, spellable(schema), spellable(name))
  return [inflected ? upperFirst(whole) : whole]
}

/** The first free candidate; then with a number. */
export function pickName(candidates: readonly string[], isFree: (name: string) => boolean): string {
  const found = candidates.find(isFree)
  if (found !== undefined) return found
  const base = candidates.at(-1) ?? 'unnamed'
  for (let number = 2; ; number += 1) {
    const name = `${base}${number}`
    if (isFree(name)) return name
  }
}

/** Gives free names, none of them twice. @param keyOf maps names that cannot stand together to one text */
export function giveNames(
  isFree: (name: string) => boolean,
  keyOf = (name: string): string => name,
): (candidates: readonly string[]) => string {
  const given = new Set<string>()
  return (candidates) => {
    const name = pickName(candidates, (one) => isFree(one) && !given.has(keyOf(one)))
    given.add(keyOf(name))
    return name
  }
}
