import { createSmtp } from '../../../runtime/auth/mails/smtp.ts'
import { roleFaults } from '../../../runtime/auth/settings/administrators.ts'
import { isLoopback } from '../../../runtime/auth/protocol/address.ts'
import { settingWarnings } from '../../../runtime/auth/rules/doubtful-settings.ts'
import { settingsOf } from '../../../runtime/auth/settings/load.ts'
import { foreignObjects, foreignSentence, givingSql } from '../../../runtime/auth/schema/owners.ts'
import { reasonOf } from '../../../runtime/db/failures/failures.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import { advise, fault, ok, type Finding } from './findings.ts'
import { isOldNode, oldestNode } from './oldest-node.ts'

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

/** About the requirements of auth besides the database. */
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
