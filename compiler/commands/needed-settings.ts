import { settingKeys, type SettingName, type Settings } from '../../runtime/settings/keys.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { type Terminal, CommandFailure } from './command.ts'
import type { DatabaseOptions } from '../../runtime/db/pool/pool.ts'
import { join } from 'node:path'
import { runningEmbeddedUrl } from '../../runtime/db/embedded/embedded-url.ts'

/** Settings of which some are known to be present. */
export type SettingsWith<N extends SettingName> = Settings & { readonly [K in N]: NonNullable<Settings[K]> }

/** Reads the settings; hints become notes. Throws CommandFailure with all problems together. */
export function neededSettingsOf(terminal: Terminal): Settings {
  const read = readSettings(terminal.environment)
  if (read.kind === 'invalid') throw new CommandFailure(`the settings are not usable:\n  ${read.problems.join('\n  ')}`)
  for (const hint of read.hints) terminal.note(`catalograph: ${hint}`)
  return read.settings
}

/** Requires the named settings. Throws CommandFailure with each missing one, and its purpose. */
export function demand<N extends SettingName>(settings: Settings, names: readonly N[]): SettingsWith<N> {
  const missing = names.filter((name) => settings[name] === null)
  if (missing.length === 0) return settings as SettingsWith<N>
  const lines = missing.map((name) => `${settingKeys[name].env}: ${settingKeys[name].help}`)
  throw new CommandFailure(`these settings are needed:\n  ${lines.join('\n  ')}`)
}

/**
 * Connection URL of a role that may read everything, or of the embedded database while it runs. Throws CommandFailure
 * if there is none.
 */
export async function ownerUrl({ databaseOwnerUrl, databaseUrl, dataFolder }: Settings): Promise<string> {
  const url = databaseOwnerUrl ?? databaseUrl ?? (await runningEmbeddedUrl(join(dataFolder, 'postgres')))
  if (url !== null) return url
  throw new CommandFailure(
    'no database is configured: set DATABASE_OWNER_URL, or run catalograph start at the same time',
  )
}

/** The database of requests, as the login role, which sets a role as for a request. */
export async function loginDatabase(settings: Settings): Promise<Omit<DatabaseOptions, 'poolSize'>> {
  const { schemas, statementTimeoutMs } = settings
  const url = settings.databaseUrl ?? (await ownerUrl(settings))
  return { url, schemas, statementTimeout: statementTimeoutMs ?? undefined }
}
