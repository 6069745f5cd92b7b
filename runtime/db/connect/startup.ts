import { ident } from '../../sql/ident.ts'
import { literal } from '../../sql/tree.ts'

/**
 * Settings for a connection's whole life, sent in the startup packet: `reset all` returns to them (manual 19.1.3,
 * 54.2.1). They fix how values are written and how names resolve. The time zone is not fixed: the setting of the
 * database or login role decides how a time without an offset is read.
 */
export type StartupSettings = Readonly<Record<string, string>>

const pinned: StartupSettings = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  row_security: 'on',
  // A page of thirty rows is not worth two more processes (engine.md 1).
  max_parallel_workers_per_gather: '0',
  // Nor does compilation pay: the catalogue query alone takes a third of a second (PostgreSQL manual, chapter JIT).
  jit: 'off',
  idle_in_transaction_session_timeout: '60000',
}

/** Hosted databases install extensions here (spec/graphql.md 9.1); the search path finds operators of theirs. */
export const extensionSchema = 'extensions'

/** Temporary objects come last: by default they would stand before every schema (manual 19.11.1). */
const searchPath = (schemas: readonly string[]): string => [...schemas.map(ident), 'pg_temp'].join(', ')

/**
 * For requests, and for statements that depend on the database's own settings.
 * @param schemas the search path; null: that of the role and database
 */
export const startupSettings = (schemas: readonly string[] | null, statementTimeout: number): StartupSettings => ({
  ...pinned,
  ...(schemas !== null && { search_path: searchPath(schemas) }),
  statement_timeout: String(statementTimeout),
})

/** Milliseconds: a migration that waits for a lock holds up every statement behind it, and each of these a connection. */
export const usualLockTimeout = 2_000

/** For statements of our own, which read times as UTC. */
export const ownSettings = (schemas: readonly string[], statementTimeout: number): StartupSettings => ({
  ...startupSettings(schemas, statementTimeout),
  TimeZone: 'UTC',
})

/** Names and values, in the order in which they are set. */
export type SettingPairs = readonly (readonly [name: string, value: string])[]

/** Whitespace separates options; a backslash escapes it (manual 54.7, StartupMessage `options`). */
const escaped = (value: string): string => value.replace(/[\s\\]/g, (character) => `\\${character}`)

/** In the form of the startup packet. */
export const optionsText = (settings: StartupSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${escaped(value)}`)
    .join(' ')

/** `-c name=value` or `--name=value`. */
const option = /(?:-c\s*|--)((?:\\[^]|[^\s\\])+)/g

/** The settings in a text for the startup packet. */
export const pairsOf = (options: string): SettingPairs =>
  [...options.matchAll(option)].map(([, escapedText = '']) => {
    const text = escapedText.replace(/\\([^])/g, '$1')
    const at = text.indexOf('=')
    return [text.slice(0, at).replaceAll('-', '_'), text.slice(at + 1)]
  })

/** Arms of a CASE, evaluated in order, that set them until the transaction ends. Equal settings give equal texts. */
export const localArms = (pairs: SettingPairs): string =>
  pairs
    .map(([name, value]) => `when pg_catalog.set_config(${literal(name)}, ${literal(value)}, true) is null then false`)
    .join('\n  ')
