import { resetAll } from '../check/opening.ts'
import { localArms, type SettingPairs } from '../connect/startup.ts'
import { sha256Hex } from '../../lib/text.ts'
import { writeRun, type SentStatement } from '../wire/wire.ts'

/** How the connections of our own statements take on a role. */

/** $1: the role. */
export const takeRole = (isLocal: boolean): string => `select pg_catalog.set_config('role', rolname::text, ${isLocal})
  from pg_catalog.pg_roles where rolname = $1 and pg_catalog.pg_has_role(session_user, oid,
    case when pg_catalog.current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`

/** The beginning of each transaction behind a pooler: settings that a direct connection keeps. */
export const openingFor = (settings: SettingPairs, role: string | null): readonly SentStatement[] => {
  const text = `select where case
  ${localArms([['role', 'none'], ...settings])}
  else (${takeRole(true)}) is not null end`
  const name = `catalograph.own.${sha256Hex(text).slice(0, 16)}`
  return [resetAll, writeRun({ name, text, values: [role] })]
}
