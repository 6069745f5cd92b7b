import { within } from '../../lib/timers.ts'
import { classifyConnecting } from '../failures/classify.ts'
import type { Query } from '../connect/session.ts'

/**
 * Settings that roles have (ALTER ROLE ... SET), for requests that run as them: switching to a role applies none (manual, SET
 * ROLE), so that each request sets them with its role. ALTER ROLE fires no event trigger: they are looked at again and again.
 */
export interface RoleSettings {
  /** Names and values, in the order in which they are set. */
  readonly pairs: readonly (readonly [name: string, value: string])[]
  /** default_transaction_read_only: of a transaction that has begun only its own mode can be set. */
  readonly readOnly: boolean
}

export interface RoleSettingsReader {
  /** The settings, at most a second old. Rejects if they could never be read. */
  readonly of: (role: string) => RoleSettings | Promise<RoleSettings>
}

/** From this age on they are looked at beside a request, and from the other one on before it. */
const freshMs = 400
const oldMs = 900

/** A server that does not answer is found out by the request itself. */
const patienceMs = 2_000

const none: RoleSettings = { pairs: [], readOnly: false }

/**
 * Settings that a request relies on: the resolution of names, the format of values, policies and isolation. `role` and
 * `session_authorization` decide the current role.
 */
const pinned: ReadonlySet<string> = new Set([
  'search_path',
  'datestyle',
  'intervalstyle',
  'bytea_output',
  'extra_float_digits',
  'standard_conforming_strings',
  'client_encoding',
  'array_nulls',
  'row_security',
  'role',
  'session_authorization',
  'default_transaction_isolation',
  'default_transaction_deferrable',
])

const readOnlyDefault = 'default_transaction_read_only'

interface Stored {
  readonly role: string
  /** It is the role that logged in. */
  readonly login: boolean
  readonly config: readonly string[]
}

/** Settings of a role for all databases come first; those for this database replace them (manual, ALTER ROLE). */
const readAll = `select r.rolname as role, r.rolname = session_user as login, s.setconfig as config
  from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
  where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
  order by s.setdatabase, r.rolname`

/** A setting that the login role may not set, or that nothing knows any more, is left out, as it is at a login. */
const trySetting = 'select set_config($1, $2, true)'

/** `name=value` (manual, pg_db_role_setting). */
const pairOf = (entry: string): readonly [string, string] => {
  const at = entry.indexOf('=')
  return [entry.slice(0, at), entry.slice(at + 1)]
}

const settingsOf = (pairs: ReadonlyMap<string, string>): RoleSettings => ({
  pairs: [...pairs].filter(([name]) => name !== readOnlyDefault),
  readOnly: /^(on|true|yes|1)$/i.test(pairs.get(readOnlyDefault) ?? ''),
})

export interface RoleSettingsOptions {
  /** Runs a statement as the login role, outside of requests. */
  readonly query: Query
  /** Settings of the login role that hold for roles without their own. */
  readonly inherited: readonly string[]
  /** True: the connection's TimeZone holds for every role. */
  readonly ownTimeZone: boolean
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number
  /** True: a request neither waits for a read that another began nor reads in the background: that would end with it. */
  readonly alone?: boolean
}

export const createRoleSettings = ({
  query,
  inherited: names,
  ownTimeZone,
  now = performance.now.bind(performance),
  alone = false,
}: RoleSettingsOptions): RoleSettingsReader => {
  let known: ReadonlyMap<string, RoleSettings> | null = null
  let base = none
  let stored = ''
  let readAt = -Infinity
  let reading: Promise<void> | null = null

  const isPinned = (name: string): boolean => pinned.has(name) || (ownTimeZone && name === 'timezone')
  const isUsable = async (name: string, value: string): Promise<boolean> =>
    query(trySetting, [name, value]).then(
      () => true,
      () => false,
    )
  const usable = async (rows: readonly Stored[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
    const roles = new Map<string, Map<string, string>>()
    for (const { role, config } of rows)
      for (const [name, value] of config.map(pairOf)) {
        const settings = roles.get(role) ?? new Map<string, string>()
        roles.set(role, settings)
        if (!isPinned(name.toLowerCase()) && (await isUsable(name, value))) settings.set(name, value)
      }
    return roles
  }
  const readSettings = async (): Promise<void> => {
    const began = now()
    const { rows } = await query<Stored>(readAll)
    const text = JSON.stringify(rows)
    if (text !== stored || known === null) {
      const roles = await usable(rows)
      const login = rows.find((row) => row.login)?.role
      const own = login === undefined ? undefined : roles.get(login)
      const inherited = [...(own ?? [])].filter(([name]) => names.includes(name))
      base = inherited.length === 0 ? none : settingsOf(new Map(inherited))
      known = new Map([...roles].map(([role, pairs]) => [role, settingsOf(new Map([...inherited, ...pairs]))]))
      stored = text
    }
    readAt = began
  }
  const readOnce = (): Promise<void> => {
    if (alone) return readSettings()
    reading ??= readSettings().finally(() => (reading = null))
    return reading
  }
  const get = (role: string): RoleSettings => known?.get(role) ?? base
  return {
    of: (role) => {
      const age = now() - readAt
      if (age < (alone ? oldMs : freshMs)) return known?.get(role) ?? base
      const read = readOnce()
      if (age < oldMs) {
        read.catch(() => undefined)
        return get(role)
      }
      return within(patienceMs, read).then(
        (came) => {
          if (!came && known === null) throw classifyConnecting(new Error('The settings of roles could not be read.'))
          return get(role)
        },
        (error: unknown) => {
          if (known === null) throw error
          return get(role)
        },
      )
    },
  }
}
