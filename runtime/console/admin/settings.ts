import {
  authSettingRows,
  type AuthSettingKey,
  type SettingType,
  authSettingKeys,
  isAuthSettingName,
  type AuthSettingName,
} from '../../auth/settings/setting-keys.ts'
import type { ShownSetting, RefusalAnswer, SettingsAnswer, AdminParts, OwnerCall } from './call.ts'
import { providers, type ProviderName } from '../../auth/providers/provider-table.ts'
import {
  settingsOf,
  roleFaults,
  isUnboundRole,
  resetSetting,
  setSetting,
  storedSettings,
} from '../../auth/settings/store.ts'
import type { RunStatement, StatementsDatabase } from '../../db/pool/statements.ts'
import { didYouMean } from '../../lib/text.ts'
import { json, type Outcome } from '../../auth/call/call.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { settingWarnings } from '../../auth/rules/doubtful-settings.ts'
import type * as io from './io.ts'
import type { JsonObject } from '../../lib/json.ts'

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

/** Changes of settings by the owner, by command or over HTTP. */

/** Texts by name; null resets a setting to its default. */
export type SettingChanges = Readonly<Record<string, string | null>>

interface SettingProblem {
  readonly name: string
  /** Never repeats the value, which may be a secret. */
  readonly problem: string
}

type Saved =
  | { readonly kind: 'saved'; readonly stored: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly problems: readonly SettingProblem[] }

/**
 * Saves all changes in one transaction together with what `note` adds, or saves none of them and returns every problem.
 */
export async function saveSettings(
  database: StatementsDatabase,
  changes: SettingChanges,
  note: (run: RunStatement) => Promise<void> = async () => undefined,
): Promise<Saved> {
  const problems = Object.entries(changes).flatMap(([name, text]) => problemOf(name, text))
  if (problems.length > 0) return { kind: 'refused', problems }
  return database.transaction(async (run) => {
    const wanted = { ...(await storedSettings(run)), ...changes }
    const stored = Object.fromEntries(Object.entries(wanted).filter(hasText))
    const { auth_enabled, site_url } = settingsOf(stored)
    if (auth_enabled && site_url === null) return { kind: 'refused', problems: [siteNeeded] }
    const faults = await roleProblems(run, changes, stored)
    if (faults.length > 0) return { kind: 'refused', problems: faults }
    await apply(run, changes)
    await note(run)
    return { kind: 'saved', stored }
  })
}

/** For changes of roles only: stored values do not prevent other changes. */
async function roleProblems(
  run: RunStatement,
  changes: SettingChanges,
  stored: Readonly<Record<string, string>>,
): Promise<readonly SettingProblem[]> {
  if (!('jwt_default_role' in changes || 'admin_roles' in changes)) return []
  const { jwt_default_role: role, admin_roles: admins } = settingsOf(stored)
  const roles = { jwt_default_role: role ?? '', admin_roles: admins ?? [] }
  const faults = roleFaults(roles)
  if (faults.length > 0 || !(await isUnboundRole(run, roles.jwt_default_role))) return faults
  return [{ name: 'jwt_default_role', problem: 'would let every user go past policies: the role bypasses them' }]
}

const hasText = (entry: [string, string | null]): entry is [string, string] => entry[1] !== null

const siteNeeded: SettingProblem = { name: 'site_url', problem: 'is needed while auth is enabled' }

function problemOf(name: string, text: string | null): readonly SettingProblem[] {
  if (!isAuthSettingName(name)) {
    return [{ name, problem: `is not a setting${didYouMean(name, Object.keys(authSettingKeys))}` }]
  }
  const key: AuthSettingKey<unknown> = authSettingKeys[name]
  const parsed = text === null ? null : (key.save ?? key.parse)(text)
  return parsed?.kind === 'problem' ? [{ name, problem: parsed.problem }] : []
}

/** In the order of names, so that two concurrent changes do not deadlock. */
async function apply(run: RunStatement, changes: SettingChanges): Promise<void> {
  for (const name of Object.keys(changes).sort() as AuthSettingName[]) {
    const text = changes[name] ?? null
    await (text === null ? resetSetting(run, name) : setSetting(run, name, text))
  }
}

/** The settings that a provider lacks, of its three; empty: it is complete, or not enabled. */
export function missingFor(
  provider: ProviderName,
  stored: Readonly<Record<string, string>>,
): readonly AuthSettingName[] {
  const settings = settingsOf(stored)
  const names = Object.values(providers[provider].settings)
  const missing = names.filter((name) => !settings[name])
  return missing.length === names.length ? [] : missing
}

/** GET /settings */
export async function getSettings(_call: OwnerCall, { tools }: AdminParts): Promise<Outcome> {
  return json(answerOf(await storedSettings(tools.database.run)))
}

function answerOf(stored: Readonly<Record<string, string>>): SettingsAnswer {
  return {
    settings: showSettings(stored),
    google: { missing: missingFor('google', stored) },
    warnings: settingWarnings(settingsOf(stored)),
  }
}

/** PATCH /settings, a JSON merge patch (RFC 7396): null resets a setting to its default. */
export async function patchSettings(
  { body, note }: OwnerCall<typeof io.patchSettings>,
  { tools }: AdminParts,
): Promise<Outcome> {
  const changes = changesOf(body)
  const names = Object.keys(changes).sort().join(' ')
  const saved = await saveSettings(tools.database, changes, note('settings_changed', { settings: names }))
  if (saved.kind === 'saved') return json(answerOf(saved.stored))
  const message = saved.problems.map(({ name, problem }) => `${name} ${problem}`).join('; ')
  return { ...json<RefusalAnswer>({ code: 'validation_failed', message, problems: saved.problems }), status: 422 }
}

function changesOf(body: JsonObject): SettingChanges {
  const entries = Object.entries(body).map(([name, value]): [string, string | null] => {
    const text = textOfValue(value)
    if (text !== undefined) return [name, text]
    throw refuse('validation_failed', 'An item of a list holds a comma outside braces, or a line end')
  })
  return Object.fromEntries(entries)
}
