import { settingKeys, type SettingName, type Settings } from '../../runtime/settings/keys.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { type Terminal, CommandFailure } from './command.ts'

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
