import { providers, type ProviderName } from '../../auth/providers/provider-table.ts'
import {
  authSettingKeys,
  isAuthSettingName,
  type AuthSettingKey,
  type AuthSettingName,
} from '../../auth/settings/setting-keys.ts'
import { settingsOf } from '../../auth/settings/load.ts'
import { roleFaults } from '../../auth/settings/administrators.ts'
import { isUnboundRole, resetSetting, setSetting, storedSettings } from '../../auth/settings/store.ts'
import type { RunStatement, StatementsDatabase } from '../../db/pool/statements.ts'
import { didYouMean } from '../../lib/text.ts'

/** Changes of settings by the owner, by command or over HTTP. */

/** Texts by name; null resets a setting to its default. */
export type SettingChanges = Readonly<Record<string, string | null>>

export interface SettingProblem {
  readonly name: string
  /** Never repeats the value, which may be a secret. */
  readonly problem: string
}

export type Saved =
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
    return [{ name, problem: `is no setting${didYouMean(name, Object.keys(authSettingKeys))}` }]
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
