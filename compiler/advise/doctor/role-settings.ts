import type { Query } from '../../../runtime/db/connect/session.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { advise, fault, type Finding } from './findings.ts'

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
