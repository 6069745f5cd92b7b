import {
  type AuthSettings,
  authSettingKeys,
  type AuthSettingKey,
  type AuthSettingName,
  authSettingRows,
} from './setting-keys.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { Parsed } from '../../settings/parsers.ts'
import { singleFlight } from '../../lib/caches.ts'
import type { WhereReady } from '../schema/migrate.ts'

/** Settings that would make every user an administrator (spec/auth.md 1). */

type AdminSettings = Pick<AuthSettings, 'jwt_default_role' | 'admin_roles'>

interface RoleFault {
  readonly name: keyof AdminSettings
  readonly problem: string
}

const rolesOfEverybody: readonly string[] = ['anon', 'authenticated']

/** The roles that bypass policies, whatever the setting says. */
const rolesOfAdministrators: readonly string[] = ['service_role', 'supabase_admin']

const everybody = 'would make every user an administrator'

export function roleFaults({ jwt_default_role: role, admin_roles: admins }: AdminSettings): readonly RoleFault[] {
  const faults: RoleFault[] = []
  if (rolesOfAdministrators.includes(role)) faults.push({ name: 'jwt_default_role', problem: `${everybody}: ${role}` })
  else if (admins.includes(role)) {
    faults.push({ name: 'jwt_default_role', problem: `${everybody}: admin_roles names ${role}` })
  }
  const open = admins.find((admin) => rolesOfEverybody.includes(admin))
  if (open !== undefined) faults.push({ name: 'admin_roles', problem: `${everybody}: ${open}` })
  return faults
}

/** The settings without such values, which were stored manually, or by an older version. */
function withoutRoleFaults<S extends AdminSettings>(settings: S): S {
  const role = rolesOfAdministrators.includes(settings.jwt_default_role) ? 'authenticated' : settings.jwt_default_role
  const admins = settings.admin_roles.filter((admin) => admin !== role && !rolesOfEverybody.includes(admin))
  return { ...settings, jwt_default_role: role, admin_roles: admins }
}

/** Changes of settings by the owner's tools; every process sees a change within a second, see load.ts. */

const writeSetting = statement<{ readonly name: string }>(
  'auth.settings.write',
  `insert into catalograph_auth.settings as s (name, value) values ($1, $2)
  on conflict (name) do update set value = excluded.value, updated_at = now() where s.value <> excluded.value
  returning name`,
)

const writeFirstSetting = statement<{ readonly name: string }>(
  'auth.settings.write-first',
  'insert into catalograph_auth.settings (name, value) values ($1, $2) on conflict (name) do nothing returning name',
)

const removeSetting = statement<{ readonly name: string }>(
  'auth.settings.remove',
  'delete from catalograph_auth.settings where name = $1 returning name',
)

const listSettings = statement<{ readonly name: string; readonly value: string }>(
  'auth.settings.list',
  'select name, value from catalograph_auth.settings order by name',
)

const unboundRole = statement<object>(
  'auth.settings.unbound-role',
  'select from pg_catalog.pg_roles where rolname = $1 and (rolsuper or rolbypassrls)',
)

/** Whether a database role bypasses policies. */
export const isUnboundRole = async (run: RunStatement, role: string): Promise<boolean> =>
  (await run(unboundRole, [role])).length > 0

/** Stores a setting's text, times in seconds, as earlier releases read them. Returns the fault of a wrong text, which is not stored. */
export async function setSetting(run: RunStatement, name: AuthSettingName, text: string): Promise<Parsed<unknown>> {
  const key: AuthSettingKey<unknown> = authSettingKeys[name]
  const parsed = key.parse(text)
  if (parsed.kind === 'value') await run(writeSetting, [name, storedText(key, text, parsed.value)])
  return parsed
}

const storedText = ({ type }: AuthSettingKey<unknown>, text: string, value: unknown): string =>
  type === 'seconds' && typeof value === 'number' ? String(value) : text

/** Stores texts of settings that the owner has never set; others stay. The texts are ours and must be valid. */
export async function setFirstSettings(
  run: RunStatement,
  texts: Readonly<Partial<Record<AuthSettingName, string>>>,
): Promise<void> {
  for (const [name, text] of Object.entries(texts)) await run(writeFirstSetting, [name, text])
}

export async function resetSetting(run: RunStatement, name: AuthSettingName): Promise<void> {
  await run(removeSetting, [name])
}

/** The stored settings, secrets included: show none of them. */
export async function storedSettings(run: RunStatement): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await run(listSettings)).map(({ name, value }) => [name, value]))
}

/**
 * The settings of auth for all processes. They are rows, so that all processes share them, and each change increments a
 * version. A caller gets the settings that were checked less than `keptMs` ago; otherwise the version is compared
 * first, by one cheap statement for all callers. Polling on use was chosen over LISTEN/NOTIFY: it needs no separate
 * connection, works behind a pooler, and cannot lose a notification.
 */

export type AuthState =
  | { readonly kind: 'enabled'; readonly settings: AuthSettings; readonly ignored: readonly RoleFault[] }
  /** Not enabled, not prepared, or without a site URL. */
  | { readonly kind: 'disabled' }

/** Rejects with DatabaseFailure only before the first successful load. */
export type ReadAuthState = () => Promise<AuthState>

interface LoadOptions {
  readonly run: RunStatement
  readonly whereReady: WhereReady
  /** The default of `external_url`. */
  readonly externalUrl: () => string
  readonly now: () => number
}

/** The maximum delay of a change. */
const keptMs = 500

interface StoredSettings {
  readonly version: string
  /** Null if the version is unchanged. */
  readonly stored: Readonly<Record<string, string>> | null
}

const readSettings = statement<StoredSettings>(
  'auth.settings.read',
  `select v.version::text,
    case when v.version::text is distinct from $1::text then
      (select coalesce(json_object_agg(s.name, s.value), '{}') from catalograph_auth.settings s)
    end as stored
  from catalograph_auth.settings_version v`,
)

const disabled: AuthState = { kind: 'disabled' }

export function createAuthState(options: LoadOptions): ReadAuthState {
  let held: { readonly version: string | null; readonly state: AuthState; readonly checkedAt: number } | null = null
  const look = singleFlight(async () => {
    // The clock is read before the rows: a change in between is seen the next time.
    const checkedAt = options.now()
    const before = held
    const rows = await options.whereReady('settings_version', () =>
      options.run(readSettings, [before?.version ?? null]),
    )
    const row = rows?.[0]
    const unchanged = before !== null && row !== undefined && row.stored === null
    const state = unchanged ? before.state : stateOf(row?.stored ?? null, options.externalUrl())
    held = { version: row?.version ?? null, state, checkedAt }
    return state
  })
  return async () => {
    if (held !== null && options.now() - held.checkedAt < keptMs) return held.state
    if (held === null) return look()
    // While the database is unavailable, old settings are better than no answer.
    const { state } = held
    return look().catch(() => state)
  }
}

function stateOf(stored: Readonly<Record<string, string>> | null, externalUrl: string): AuthState {
  if (stored === null) return disabled
  const settings = settingsOf(stored)
  if (!settings.auth_enabled || settings.site_url === null) return disabled
  const whole = { ...settings, external_url: settings.external_url ?? externalUrl } as AuthSettings
  return { kind: 'enabled', settings: withoutRoleFaults(whole), ignored: roleFaults(whole) }
}

type StoredValues = { readonly [N in keyof AuthSettings]: AuthSettings[N] | null } & { readonly auth_enabled: boolean }

/** Values of stored texts. An unreadable text counts as absent: it was checked when it was stored. */
export function settingsOf(stored: Readonly<Record<string, string>>): StoredValues {
  const entries = authSettingRows.map(([name, key]) => {
    const text = Object.hasOwn(stored, name) ? stored[name] : undefined
    const parsed = text === undefined ? null : key.parse(text)
    return [name, parsed?.kind === 'value' ? parsed.value : key.fallback]
  })
  return Object.fromEntries(entries) as StoredValues
}
