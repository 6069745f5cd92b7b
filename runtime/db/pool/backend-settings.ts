import type pg from 'pg'
import type { SettingPairs } from '../connect/startup.ts'

/**
 * With it a backend whose client is gone ends, which no cancellation achieves of a function that catches it: the key of a
 * connection through a pooler names no process. Only some systems know it (PostgreSQL manual 20.3.2).
 */
const watch = ['client_connection_check_interval', '1000'] as const

const backendFacts = `select pg_catalog.version() ~ 'linux' as linux,
  (select reset_val from pg_catalog.pg_settings where name = 'client_encoding') = 'UTF8' as utf8`

/**
 * The settings of each transaction behind a pooler, whose backends may lack those of the connection: each costs some
 * microseconds, the encoding most of all.
 */
export const settingsOn = async (client: pg.Client, settings: SettingPairs): Promise<SettingPairs> => {
  const { linux = false, utf8 = false } =
    (await client.query<{ readonly linux: boolean; readonly utf8: boolean }>(backendFacts)).rows[0] ?? {}
  const wanted = utf8 ? settings.filter(([name]) => name !== 'client_encoding') : settings
  return linux ? [...wanted, watch] : wanted
}
