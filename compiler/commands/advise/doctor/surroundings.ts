import { isOldNode, oldestNode } from './oldest-node.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { nameObject } from '../../../catalog/catalog.ts'
import { advise, type Finding, fault, ok } from './findings.ts'
import type { Settings } from '../../../../runtime/settings/keys.ts'
import { previousSecretOf } from '../../../../runtime/settings/rotation.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import { createSmtp } from '../../../../runtime/auth/mails/smtp.ts'
import { roleFaults, settingsOf } from '../../../../runtime/auth/settings/store.ts'
import { isLoopback } from '../../../../runtime/auth/protocol/input.ts'
import { settingWarnings } from '../../../../runtime/auth/rules/doubtful-settings.ts'
import { foreignObjects, foreignSentence, givingSql } from '../../../../runtime/auth/schema/owners.ts'
import { reasonOf } from '../../../../runtime/db/failures/failures.ts'

const hooksSql = `select n.nspname::text as schema from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.proname = 'custom_access_token_hook' and n.nspname in ('public', 'auth') order by 1`

/** GoTrue can be configured to call such a function for each token; this service never does (docs/auth.md). */
export async function tokenHookFindings(query: Query): Promise<readonly Finding[]> {
  const { rows } = await query<{ readonly schema: string }>(hooksSql)
  return rows.map(({ schema }) =>
    advise(
      'token hook',
      `${nameObject('function', schema, 'custom_access_token_hook')} is not called, so that tokens lack the claims that it adds`,
      'write policies that read the same from a table by auth.uid(), or from app_metadata in auth.jwt()',
    ),
  )
}

/** The progress of a rotation of JWT_SECRET; empty without one. */
export function previousSecretFindings(settings: Settings, now: number): readonly Finding[] {
  const previous = previousSecretOf(settings)
  if (previous === null) return []
  const day = new Date(previous.until).toISOString()
  const takeAway = 'take JWT_SECRET_PREVIOUS and JWT_SECRET_PREVIOUS_UNTIL away'
  if (previous.secret === settings.jwtSecret) {
    return [advise('rotation', 'JWT_SECRET_PREVIOUS is JWT_SECRET itself', `make a new JWT_SECRET, or ${takeAway}`)]
  }
  return previous.until > now
    ? [
        advise(
          'rotation',
          `keys and tokens of JWT_SECRET_PREVIOUS are accepted until ${day}`,
          'give clients the new keys until then',
        ),
      ]
    : [advise('rotation', `keys and tokens of JWT_SECRET_PREVIOUS are refused since ${day}`, takeAway)]
}

/** A setting of a role or a database (pg_db_role_setting); dumps of roles and databases contain them, too. */
interface RoleSetting {
  readonly name: string
  readonly value: string
  /** In the notation of ALTER; null: of all. */
  readonly role: string | null
  readonly database: string | null
}

const settingsSql = `select pg_catalog.split_part(entry, '=', 1) as name,
    pg_catalog.substr(entry, pg_catalog.strpos(entry, '=') + 1) as value,
    r.rolname::text as role, d.datname::text as database
  from pg_catalog.pg_db_role_setting s
  left join pg_catalog.pg_roles r on r.oid = s.setrole
  left join pg_catalog.pg_database d on d.oid = s.setdatabase
  cross join lateral pg_catalog.unnest(s.setconfig) entry
  where (s.setrole = '0' or r.rolname = $1) and (s.setdatabase = '0' or d.datname = pg_catalog.current_database())
  order by 1, 3, 4`

/**
 * The effect of each on logins; null: none. Settings that a connection overrides, such as search_path, are excluded.
 */
const effects: Readonly<Record<string, (value: string) => string | null>> = {
  role: (value) => (value === 'none' ? null : `every connection begins as ${value}`),
  default_transaction_read_only: (value) => (/^(?:on|true|yes|1)$/i.test(value) ? 'every write is refused' : null),
  transaction_timeout: (value) => (value === '0' ? null : `every transaction ends after ${value}`),
  idle_session_timeout: (value) => (value === '0' ? null : `idle connections are closed after ${value}`),
}

const libraries: ReadonlySet<string> = new Set(['session_preload_libraries', 'local_preload_libraries'])

const resetOf = ({ name, role, database }: RoleSetting): string => {
  if (role === null) return `alter database ${ident(database ?? '')} reset ${name};`
  return `alter role ${ident(role)}${database === null ? '' : ` in database ${ident(database)}`} reset ${name};`
}

const ownerOf = ({ role, database }: RoleSetting): string =>
  role === null ? `database ${database}` : `role ${role}${database === null ? '' : ` in database ${database}`}`

/**
 * Settings of the login role that prevent serving.
 * @param isRefused it could not log in, which after a restore is often caused by a missing library
 */
export async function roleSettingFindings(
  query: Query,
  login: string,
  isRefused: boolean,
): Promise<readonly Finding[]> {
  const { rows } = await query<RoleSetting>(settingsSql, [login])
  return rows.flatMap((row) => {
    const set = `${ownerOf(row)} sets ${row.name} to ${row.value}`
    if (isRefused && libraries.has(row.name))
      return [fault('role settings', `${set}, and this server may not have that library`, resetOf(row))]
    const effect = effects[row.name]?.(row.value) ?? null
    return effect === null ? [] : [advise('role settings', `${set}: ${effect}`, resetOf(row))]
  })
}

export const nodeFinding = (version: string): Finding =>
  isOldNode(version)
    ? fault('node', `Node ${version} is too old`, `use Node ${oldestNode} or newer`)
    : ok('node', `Node ${version}`)

/** @param isEmbedded whether it is the embedded database, which has its own secret */
export function keysFinding({ jwtSecret, dataFolder }: Settings, isEmbedded: boolean): Finding {
  if (jwtSecret !== null) return ok('keys', 'keys are made with JWT_SECRET')
  if (isEmbedded) return ok('keys', `keys are made with the secret of the embedded database in ${dataFolder}`)
  return fault(
    'keys',
    'JWT_SECRET is not set',
    'set it to 32 random characters or more, such as those of: openssl rand -hex 32',
  )
}

/** Whether auth was ever enabled in this database. */
export async function isAuthThere(query: Query): Promise<boolean> {
  const { rows } = await query("select from pg_catalog.pg_namespace where nspname = 'catalograph_auth'")
  return rows.length > 0
}

/** About the objects of auth: whether the login role may use them. */
export async function authFindings(query: Query): Promise<readonly Finding[]> {
  const foreign = await foreignObjects(query)
  const [first] = foreign
  if (first === undefined) return [ok('auth', 'auth may use its tables'), ...(await settingFindings(query))]
  const more = foreign.length === 1 ? '' : `, and ${foreign.length - 1} others`
  const fix = ['run catalograph auth enable as a role that may, or as their owner:', ...foreign.map(givingSql)]
  return [fault('auth', `${foreignSentence(first)}${more}`, fix.join('\n'))]
}

/** Stored settings that are ignored because they make every user an administrator, or that are too permissive. */
async function settingFindings(query: Query): Promise<readonly Finding[]> {
  const readable = `select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'catalograph_auth' and c.relname = 'settings'
      and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'select')`
  if ((await query(readable)).rows.length === 0) return []
  const { rows } = await query<{ name: string; value: string }>('select name, value from catalograph_auth.settings')
  const settings = settingsOf(Object.fromEntries(rows.map(({ name, value }) => [name, value])))
  const { jwt_default_role: role, admin_roles: admins } = settings
  return [
    ...roleFaults({ jwt_default_role: role ?? '', admin_roles: admins ?? [] }).map(({ name, problem }) =>
      fault('auth', `the setting ${name} is ignored, since it ${problem}`, `catalograph auth reset ${name}`),
    ),
    ...settingWarnings(settings).map(({ name, warning }) =>
      advise('auth', `the setting ${name} ${warning}`, `change it by catalograph auth set ${name}`),
    ),
  ]
}

export async function mailFinding({ smtpUrl }: Settings, isAuth: boolean): Promise<Finding> {
  if (smtpUrl === null) {
    return isAuth
      ? advise(
          'mail',
          'mails of auth are kept in the database and not sent',
          'set SMTP_URL; catalograph mails shows what is kept',
        )
      : ok('mail', 'auth is not enabled, and no mail server is set')
  }
  try {
    await createSmtp(smtpUrl).knock()
    return ok('mail', 'the mail server takes mails')
  } catch (error) {
    return fault('mail', `the mail server cannot be used: ${reasonOf(error)}`, 'check SMTP_URL')
  }
}

export const addressFinding = ({ baseUrl }: Settings, isAuth: boolean): Finding => {
  if (baseUrl === null) {
    return isAuth
      ? advise(
          'address',
          'links in mails name the address that this process listens on',
          'set BASE_URL to the public address',
        )
      : ok('address', 'BASE_URL is not set, and only auth needs it')
  }
  return baseUrl.startsWith('https:') || isLoopback(new URL(baseUrl).hostname)
    ? ok('address', baseUrl)
    : advise('address', `${baseUrl} is not encrypted, and tokens travel there`, 'serve it by https')
}
