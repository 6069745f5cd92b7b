import pluralize from 'pluralize'
import { lowerFirst, rootField, upperFirst } from '../../../runtime/contract/root-fields.ts'
import { inflect } from '../../model/inflect.ts'

/** Names that objects could have, in the order in which they are tried. */

/** A name that GraphQL can spell: letters of ASCII, digits and underscores, no digit first, not two underscores first. */
export function spellable(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^_0-9A-Za-z]+/g, '_')
    .replace(/^_+(?=.)/, '_')
  if (plain === '' || plain === '_') return 'unnamed'
  return /^\d/.test(plain) ? `_${plain}` : plain
}

/** In the style of a schema: `begin_area` is `beginArea` where names are inflected. */
const fieldStyle = (name: string, inflected: boolean): string => (inflected ? lowerFirst(inflect(name)) : name)

/** Words joined in the style of a schema. */
const joined = (inflected: boolean, ...words: readonly string[]): string =>
  inflected ? lowerFirst(words.map((word) => upperFirst(inflect(word))).join('')) : words.join('_')

/** A foreign key, as its names are made of it. */
export interface KeyColumns {
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
}

/** `item_id` and `itemId` are named for `item`, and so is `itemid` where it leads to a column that is spelt so too. */
const withoutId = ({ columns, foreignColumns }: KeyColumns): readonly string[] =>
  columns.map((column, place) =>
    spellable(
      column.replace(/[^_]id$/.test(foreignColumns[place] ?? '') ? /(?<=.)(?:_?id|Id)$/ : /(?<=.)(?:_id|Id)$/, ''),
    ),
  )

const columnsText = (key: KeyColumns): string => withoutId(key).join('_and_')

/** The field of a foreign key on the table that has it: named by its columns, then by where it leads. */
export const forwardCandidates = (key: KeyColumns, target: string, inflected: boolean): readonly string[] => [
  ...(key.columns.length === 1 ? withoutId(key).map((name) => fieldStyle(name, inflected)) : []),
  joined(inflected, lowerFirst(target), 'by', columnsText(key)),
]

/** The field on the other side. */
export const reverseCandidates = (
  child: string,
  key: KeyColumns,
  single: boolean,
  inflected: boolean,
): readonly string[] => {
  const name = joined(inflected, lowerFirst(child), 'by', columnsText(key))
  return [single ? name : rootField('collection', name)]
}

/** The last word of a name, in each of the styles that names are written in: `posts` of `blog_posts` and of `BlogPosts`. */
const lastWord = /(?:\p{Lu}?\p{Ll}+|\p{Lu}+)$/u

const withLastWord = (name: string, change: (word: string) => string): string => name.replace(lastWord, change)

/** `data` and `media` name one thing as well as many: words in -a stay, and so do abbreviations such as `os` and `sms`. */
const isPlural = (word: string): boolean =>
  word.length > 3 && !/a$/i.test(word) && pluralize.isPlural(word) && !pluralize.isSingular(word)

/** `blog_post` of `blog_posts`; a name that is no plural stays. */
export const singularOf = (name: string): string =>
  withLastWord(name, (word) => (isPlural(word) ? pluralize.singular(word) : word))

const pluralOf = (name: string): string => withLastWord(name, (word) => pluralize.plural(word))

/**
 * The field that leads to many rows, in words instead of `Collection`: `posts`; where several do, `postsByEditor`.
 * @param isPlain whether it leads there as such, not by one of several columns
 */
export const manyCandidates = (
  child: string,
  key: KeyColumns,
  isPlain: boolean,
  inflected: boolean,
): readonly string[] => {
  const many = pluralOf(lowerFirst(child))
  return [...(isPlain ? [many] : []), joined(inflected, many, 'by', columnsText(key))]
}

/**
 * A column whose field something else has. A column of a foreign key holds the key of a row; another one gets the spelling of the
 * database, where that is another name.
 */
export const columnCandidates = (column: string, isKey: boolean, inflected: boolean): readonly string[] =>
  isKey
    ? ['id', 'key', 'value'].map((word) => joined(inflected, spellable(column), word))
    : [spellable(column), joined(inflected, spellable(column), 'column')]

/** A computed field or function whose name something else has. */
export const functionCandidates = (field: string, place: string, inflected: boolean): readonly string[] => [
  joined(inflected, 'computed', field),
  joined(inflected, field, 'of', place),
]

/** A type whose name another schema's has. */
export const typeCandidates = (schema: string, name: string, inflected: boolean): readonly string[] => {
  const whole = joined(inflected, spellable(schema), spellable(name))
  return [inflected ? upperFirst(whole) : whole]
}

/** The first that is free; then with a number. */
export function pickName(candidates: readonly string[], isFree: (name: string) => boolean): string {
  const found = candidates.find(isFree)
  if (found !== undefined) return found
  const base = candidates.at(-1) ?? 'unnamed'
  for (let number = 2; ; number += 1) {
    const name = `${base}${number}`
    if (isFree(name)) return name
  }
}
