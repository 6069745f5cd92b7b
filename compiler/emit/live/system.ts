/** Functions of Postgres whose results depend on the time, the connection, or state without triggers. */
const clock: ReadonlySet<string> = new Set([
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'clock_timestamp',
  'timeofday',
])

/** Declared as stable: they differ between transactions or connections. */
const ofConnection =
  /^(txid_current|pg_current_xact_id|pg_current_snapshot|txid_current_snapshot|pg_backend_pid|inet_client_)/

const readsTables = /^(table|schema|database|query|cursor)_to_xml|^pg_stat_get_/

/** The fault of a function of pg_catalog by its name; null: it depends on its arguments alone, or on the schema. */
export function systemFault(name: string): 'clock' | 'volatile' | 'unknown' | null {
  if (clock.has(name)) return 'clock'
  if (ofConnection.test(name)) return 'volatile'
  return readsTables.test(name) ? 'unknown' : null
}

/** Settings with the claims of a request. */
export const isClaim = (setting: string): boolean => /^request\.jwt\.claims?(\.|$)/i.test(setting)

/** Words for the present time in a date or time. */
export const isMoment = (text: string): boolean => /^\s*(now|today|tomorrow|yesterday)\s*$/i.test(text)
