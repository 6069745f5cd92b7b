import type { Json } from './world.ts'

/** Text operators (Postgres manual 9.7). The "C" collation folds the case of ASCII letters only. */

export const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function likePattern(pattern: string): RegExp {
  let source = ''
  const characters = [...pattern]
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? ''
    if (character === '%') source += '.*'
    else if (character === '_') source += '.'
    else if (character === '\\') source += quoted(characters[(index += 1)] ?? '')
    else source += quoted(character)
  }
  return new RegExp(`^${source}$`, 'su')
}

const quoted = (character: string): string => character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')

export const matches: Readonly<Record<string, (text: string, pattern: string) => boolean>> = {
  like: (text, pattern) => likePattern(pattern).test(text),
  ilike: (text, pattern) => likePattern(foldAscii(pattern)).test(foldAscii(text)),
  regex: (text, pattern) => new RegExp(pattern, 'su').test(text),
  iregex: (text, pattern) => new RegExp(foldAscii(pattern), 'su').test(foldAscii(text)),
  startsWith: (text, prefix) => text.startsWith(prefix),
}

/** The operators of `textFilters` (spec/graphql.md 17.1), except trigrams. */
export const alike: Readonly<Record<string, (value: string, operand: Json) => boolean>> = {
  ieq: (value, operand) => foldAscii(value) === foldAscii(String(operand)),
  iin: (value, operand) =>
    (Array.isArray(operand) ? operand : [operand]).some((one) => foldAscii(String(one)) === foldAscii(value)),
}
