import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { singleFlight } from '../../lib/caches.ts'
import type { WhereReady } from '../schema/where-ready.ts'
import { roleFaults, withoutRoleFaults, type RoleFault } from './administrators.ts'
import { authSettingRows, type AuthSettings } from './setting-keys.ts'

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

export interface LoadOptions {
  readonly run: RunStatement
  readonly whereReady: WhereReady
  /** The default of `external_url`. */
  readonly externalUrl: () => string
  /** The clock, in milliseconds. */
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

interface Held {
  readonly version: string | null
  readonly state: AuthState
  readonly checkedAt: number
}

const disabled: AuthState = { kind: 'disabled' }

/** Makes the reader. */
export function createAuthState(options: LoadOptions): ReadAuthState {
  let held: Held | null = null
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
