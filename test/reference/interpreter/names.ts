/** Names by the rules of spec/graphql.md 2, written from that section alone. */

const isAlphanumeric = (character: string): boolean => /[\p{L}\p{N}]/u.test(character)

function inflected(name: string): string {
  const characters = [...name]
  return characters
    .map((character, index) =>
      index > 0 && isAlphanumeric(characters[index - 1] ?? '') ? character : character.toUpperCase(),
    )
    .join('')
    .replaceAll('_', '')
}

export function lowerFirst(text: string): string {
  const [first = '', ...rest] = text
  return first.toLowerCase() + rest.join('')
}

export const isName = (text: string): boolean => /^[_A-Za-z][_0-9A-Za-z]*$/.test(text) && !text.startsWith('__')

/** A valid enum value: `true`, `false` and `null` are reserved (GraphQL specification 2.9.6). */
export const isEnumName = (text: string): boolean => isName(text) && !['true', 'false', 'null'].includes(text)

export const typeNameOf = (name: string, override: string | null, inflects: boolean): string =>
  override ?? (inflects ? inflected(name) : name)

export const fieldNameOf = (name: string, override: string | null, inflects: boolean): string =>
  override ?? (inflects ? lowerFirst(inflected(name)) : name)

/** The field of a to-one relation: its single column without the suffix, else the target type (spec/graphql.md 2.3). */
export function toOneName(columns: readonly string[], targetType: string, inflects: boolean): string {
  const suffix = inflects ? '_id' : 'Id'
  const [only] = columns
  if (columns.length !== 1 || only === undefined || !only.endsWith(suffix)) return lowerFirst(targetType)
  const stripped = only.slice(0, only.length - suffix.length)
  return lowerFirst(inflects ? inflected(stripped) : stripped)
}

/** One leading underscore goes; the first letter is small in either mode (spec/graphql.md 2.2). */
export const functionNameOf = (name: string, override: string | null, inflects: boolean): string =>
  override ?? argumentNameOf(name.startsWith('_') ? name.slice(1) : name, inflects)

export const argumentNameOf = (name: string, inflects: boolean): string => lowerFirst(inflects ? inflected(name) : name)
