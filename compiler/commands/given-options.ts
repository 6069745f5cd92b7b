import { misuse, type GivenOptions } from './command.ts'

export function textOption(given: GivenOptions, name: string): string | null {
  const value = given[name]
  return typeof value === 'string' ? value : null
}

/** All values of a repeatable option. */
export function repeatedOption(given: GivenOptions, name: string): readonly string[] {
  const value = given[name]
  return typeof value === 'object' ? value : []
}

/** @throws CommandFailure if the option is given and is not a number of this form */
export function numberOption(given: GivenOptions, name: string, form: RegExp): number | null {
  const text = textOption(given, name)
  if (text !== null && !form.test(text)) throw misuse(`--${name} takes a number, not "${text}"`)
  return text === null ? null : Number(text)
}

/** Names separated by commas. @throws CommandFailure if one is empty */
export function namesOption(given: GivenOptions, name: string, usual: string): readonly string[] {
  const names = (textOption(given, name) ?? usual).split(',').map((one) => one.trim())
  if (names.includes('')) throw misuse(`--${name} takes names with commas between them`)
  return names
}
