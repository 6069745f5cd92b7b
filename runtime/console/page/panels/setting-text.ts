import type { ShownSetting } from '../../admin/call.ts'

/** Settings in editable form. */

export type Draft = string | boolean

const labels: Readonly<Record<string, string>> = {
  redirect_allow_list: 'Also allowed addresses',
  anonymous_enabled: 'Guest sign-in',
  disable_signup: 'Refuse new accounts',
  autoconfirm: 'Confirm addresses without a mail',
  jwt_exp: 'Access token life',
  jwt_aud: 'Access token audience',
  jwt_default_role: 'Role of signed-in users',
  otp_exp: 'Life of codes and links',
}

/** `site_url` as `Site URL`. */
export function labelOf(name: string): string {
  if (Object.hasOwn(labels, name)) return labels[name] ?? name
  const words = name.replaceAll('_', ' ').replace(/\b(url|jwt|mfa|totp|id|otp)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
] as const

/** 5400 as `90m`; null: it is best said in seconds. */
function timeIn(value: unknown): string | null {
  const [seconds = 0, unit] =
    units.find(([length]) => typeof value === 'number' && value > 0 && value % length === 0) ?? []
  return unit === undefined ? null : `${Number(value) / seconds}${unit}`
}

/** The explanation of a setting, with its unit. */
export function helpOf({ type, help, value }: ShownSetting): string {
  if (type !== 'seconds') return help
  const time = timeIn(value)
  return `${help} In seconds, or as 30m, 12h, 7d.${time === null ? '' : ` Now ${time}.`}`
}

export function draftOf({ type, value, secret }: ShownSetting): Draft {
  if (type === 'switch') return value === true
  if (secret) return ''
  if (value === null) return type === 'seconds' ? 'off' : ''
  return Array.isArray(value) ? value.join('\n') : String(value)
}

/** The value to send for a draft; null requests the default. */
export function valueOf({ type }: ShownSetting, draft: Draft): unknown {
  if (typeof draft === 'boolean') return draft
  if (type === 'list')
    return draft
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const text = draft.trim()
  return text === '' && type !== 'text' ? null : text
}
