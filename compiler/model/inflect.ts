const isAlphanumeric = (character: string): boolean => /^[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]$/u.test(character)

/**
 * GraphQL casing (spec/graphql.md 2.1): a character that does not follow an alphanumeric one goes to upper case, then
 * underscores are dropped. Nothing goes to lower case.
 */
export function inflect(name: string): string {
  let inflected = ''
  let afterAlphanumeric = false
  for (const character of name) {
    inflected += afterAlphanumeric ? character : character.toUpperCase()
    afterAlphanumeric = isAlphanumeric(character)
  }
  return inflected.replaceAll('_', '')
}
