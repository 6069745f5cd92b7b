/** JavaScript text that is safe for all names. */

/** Characters that are special inside a single-quoted string, end its line, or are invisible. */
const needsEscape =
  /['\\\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]/

/**
 * A string literal (ECMA-262 12.9.4): single quotes if nothing needs an escape, else JSON with every odd character
 * escaped.
 */
export const jsString = (text: string): string =>
  needsEscape.test(text) ? escapeUnseen(JSON.stringify(text)) : `'${text}'`

const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const escapeUnseen = (json: string): string =>
  json.replace(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * A property's name in an object literal. `__proto__` would set the prototype unless it is computed (ECMA-262 B.3.1).
 */
const jsKey = (name: string): string => (name === '__proto__' ? "['__proto__']" : jsString(name))

/** One line of a block comment: names may contain the end of a comment or a line. */
export const commentText = (text: string): string =>
  escapeUnseen(JSON.stringify(text).slice(1, -1)).replaceAll('\\"', '"').replaceAll('*/', '*\\/')

/** The place of an argument in the text. */
export interface Hole {
  readonly argument: string
}

/** Pieces of SQL text and the arguments between them. */
export type Pieces = readonly (string | Hole)[]

export const hole = (argument: string): Hole => ({ argument })

/** A function that puts its arguments between pieces of SQL: `(row) => row + '."title"'`. */
export function jsFunction(argument: string, pieces: Pieces): string {
  const terms = pieces
    .filter((piece) => piece !== '')
    .map((piece) => (typeof piece === 'string' ? jsString(piece) : piece.argument))
  return `(${argument}) => ${terms.join(' + ')}`
}

export const moduleExports = (members: readonly string[]): string => `module.exports = ${block(members)}`

/**
 * A member with an object as value. It has no prototype: a look-up by an arbitrary name must not find inherited
 * members.
 */
export const table = <T>(
  name: string,
  items: readonly T[],
  entry: (item: T) => readonly [key: string, text: string],
): string =>
  `${name}: ${block(['__proto__: null', ...items.map(entry).map(([key, text]) => `${jsKey(key)}: ${text}`)])}`

/** An object literal, one member per line. */
export const block = (members: readonly string[]): string =>
  members.length === 0 ? '{}' : `{\n${members.map((member) => `  ${member.replaceAll('\n', '\n  ')},\n`).join('')}}`

export const moduleText = (statements: readonly string[]): string =>
  `${statements.filter((text) => text !== '').join('\n\n')}\n`
