import { authSettingRows, type AuthSettingKey, type SettingType } from '../../auth/settings/setting-keys.ts'
import type { ShownSetting } from './answers.ts'

/** Settings of auth as JSON for the owner, and as the stored text. */

/** Every setting of the table, without values of secrets. */
export function showSettings(stored: Readonly<Record<string, string>>): readonly ShownSetting[] {
  return authSettingRows.map(([name, key]) => {
    const text = Object.hasOwn(stored, name) ? (stored[name] ?? '') : null
    const { type, secret, help } = key
    const value = secret ? null : text === null ? shownDefault(key) : shownText(key, text)
    return { name, type, value, set: text !== null, secret, help }
  })
}

/** Types whose parsed values are shown; others are shown as they were written. */
const shownAsParsed: ReadonlySet<SettingType> = new Set(['switch', 'number', 'seconds', 'list'])

function shownText(key: AuthSettingKey<unknown>, text: string): unknown {
  if (!shownAsParsed.has(key.type)) return text
  const parsed = key.parse(text)
  return parsed.kind === 'value' ? parsed.value : null
}

function shownDefault({ type, fallback }: AuthSettingKey<unknown>): unknown {
  return type === 'text' && typeof fallback !== 'string' ? '' : fallback
}

/** Separates the items of a list, except within braces. */
const separator = /[\n,](?![^{]*\})/

/** The stored text of a JSON value; null stays null. Undefined: a list cannot contain one of the items. */
export function textOfValue(value: unknown): string | null | undefined {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return JSON.stringify(value)
  return value.some((item) => separator.test(item)) ? undefined : value.join(',')
}
