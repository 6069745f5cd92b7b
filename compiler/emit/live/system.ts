/** Functions of Postgres that say something else at another time, for another connection, or of what no trigger tells. */
const clock: ReadonlySet<string> = new Set([
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'clock_timestamp',
  'timeofday',
])

/** Declared as stable: each transaction or connection has another value. */
const ofConnection =
  /^(txid_current|pg_current_xact_id|pg_current_snapshot|txid_current_snapshot|pg_backend_pid|inet_client_)/

const readsTables = /^(table|schema|database|query|cursor)_to_xml|^pg_stat_get_/

/** What is known of a function of pg_catalog by its name; null: it depends on its arguments alone, or on the schema. */
export function systemFault(name: string): 'clock' | 'volatile' | 'unknown' | null {
  if (clock.has(name)) return 'clock'
  if (ofConnection.test(name)) return 'volatile'
  return readsTables.test(name) ? 'unknown' : null
}

/** Settings that hold the claims of a request. */
export const isClaim = (setting: string): boolean => /^request\.jwt\.claims?(\.|$)/i.test(setting)

/** Words that a date or a time is made of as the clock says. */
export const isMoment = (text: string): boolean => /^\s*(now|today|tomorrow|yesterday)\s*$/i.test(text)
