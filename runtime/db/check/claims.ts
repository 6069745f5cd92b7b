import { isJsonObject } from '../../lib/json.ts'

/** A token's claims as Postgres settings: parallel lists, in the order in which they have to be set. */
export interface ClaimSettingLists {
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/** Names that can stand after the last dot of a setting's name (PostgreSQL manual 19.16, customized options). */
const settingName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Always set, so that nothing of an earlier request can show through. */
const reserved = ['sub', 'role', 'email']

/** Strings as they are, absent and null as empty, all else as JSON text. A setting cannot hold a zero byte. */
const settingText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.includes('\0') ? '' : text
}

/**
 * JSON text of claims -> settings `request.jwt.claim.NAME`. Names of settings ignore case, so a claim that differs
 * from a reserved one only in case is left out. Text other than a JSON object gives the reserved ones only, all empty.
 */
export const claimSettings = (claims: string): ClaimSettingLists => {
  const parsed: unknown = JSON.parse(claims)
  const object = isJsonObject(parsed) ? parsed : {}
  const free = Object.keys(object).filter((name) => settingName.test(name) && !reserved.includes(name.toLowerCase()))
  const names = [...free, ...reserved]
  const values = names.map((name) => settingText(Object.hasOwn(object, name) ? object[name] : null))
  return { names: names.map((name) => `request.jwt.claim.${name}`), values }
}
