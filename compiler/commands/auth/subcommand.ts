import { missingFor, saveSettings, type SettingChanges } from '../../../runtime/console/admin/save-settings.ts'
import type { ShownSetting } from '../../../runtime/console/admin/answers.ts'
import { settingWarnings } from '../../../runtime/auth/rules/doubtful-settings.ts'
import { settingsOf } from '../../../runtime/auth/settings/load.ts'
import type { StatementsDatabase } from '../../../runtime/db/pool/statements.ts'
import type { AuthUrls } from '../auth-database.ts'
import { CommandFailure, misuse, type GivenOptions, type Terminal } from '../command.ts'

/** The input of a subcommand of `auth`. */
export interface AuthWork {
  /** After the subcommand's name. */
  readonly args: readonly string[]
  readonly options: GivenOptions
  readonly terminal: Terminal
  readonly urls: AuthUrls
  readonly database: StatementsDatabase
}

export interface AuthSubcommand {
  readonly usage: string
  readonly summary: string
  /** The options of the command that it accepts; absent: none. */
  readonly options?: readonly string[]
  /** The maximum number of arguments; absent: none. */
  readonly most?: number
  readonly run: (work: AuthWork) => Promise<void>
}

/** Saves, or throws CommandFailure with all problems; returns the stored settings. */
export async function save(
  { database, terminal }: AuthWork,
  changes: SettingChanges,
): Promise<Readonly<Record<string, string>>> {
  const saved = await saveSettings(database, changes)
  if (saved.kind === 'refused') {
    const lines = saved.problems.map(({ name, problem }) => `${name} ${problem}`)
    throw new CommandFailure(`nothing was saved:\n  ${lines.join('\n  ')}`)
  }
  const touchesGoogle = Object.keys(changes).some((name) => name.startsWith('google_'))
  if (touchesGoogle) for (const line of googleLines(saved.stored)) terminal.note(line)
  for (const { name, warning } of settingWarnings(settingsOf(saved.stored))) {
    if (Object.hasOwn(changes, name)) terminal.note(`Warning: ${name} ${warning}`)
  }
  return saved.stored
}

const googleWays: Readonly<Record<string, string>> = {
  google_enabled: 'catalograph auth google on',
  google_client_id: 'catalograph auth google --client-id ID',
  google_secret: 'catalograph auth google --secret-stdin',
}

/** The missing parts of sign-in by Google, each with the command that fixes it. */
export function googleLines(stored: Readonly<Record<string, string>>): readonly string[] {
  return missingFor('google', stored).map(
    (name) => `Google is not offered yet, ${name} is missing: ${googleWays[name]}`,
  )
}

/** A setting's value for people; the value of a secret is never shown. */
export function renderValue({ value, set, secret, type }: ShownSetting): string {
  if (secret) return set ? '(set, not shown)' : '(not set)'
  if (value === null) return type === 'seconds' ? 'off' : '(not set)'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  return text === '' ? '(none)' : text
}

/** Standard input. Throws CommandFailure if it is empty. */
export async function readInput({ terminal }: AuthWork): Promise<string> {
  const text = (await terminal.readInput?.()) ?? ''
  if (text === '') throw new CommandFailure('standard input is empty')
  return text
}

/** `on` or `off`, or undefined. */
export function switchOf([word]: readonly string[]): 'on' | 'off' | null {
  if (word === undefined || word === 'on' || word === 'off') return word ?? null
  throw misuse(`"${word}" is neither on nor off`)
}
