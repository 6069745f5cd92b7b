import { readFile } from 'node:fs/promises'
import { missingFor, saveSettings, type SettingChanges } from '../../../runtime/console/admin/settings.ts'
import type { ShownSetting } from '../../../runtime/console/admin/call.ts'
import { settingWarnings } from '../../../runtime/auth/rules/doubtful-settings.ts'
import { settingsOf, storedSettings } from '../../../runtime/auth/settings/store.ts'
import type { StatementsDatabase } from '../../../runtime/db/pool/statements.ts'
import type { AuthUrls } from '../auth-database.ts'
import { CommandFailure, misuse, type GivenOptions, type Terminal } from '../command.ts'
import { textList } from '../../../runtime/auth/settings/parsers.ts'
import { isTemplateKind, templateKinds, type MailKind } from '../../../runtime/auth/mails/kinds.ts'
import { listTemplates, setTemplate } from '../../../runtime/auth/mails/templates.ts'
import { resetTemplate } from '../../../runtime/auth/store/mail-templates.ts'

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

const changes: Readonly<Record<string, (present: readonly string[], given: readonly string[]) => readonly string[]>> = {
  add: (present, given) => [...new Set([...present, ...given])],
  remove: (present, given) => {
    const unknown = given.find((address) => !present.includes(address))
    if (unknown !== undefined) throw new CommandFailure(`${unknown} is not on the list`)
    return present.filter((address) => !given.includes(address))
  },
}

export const redirects: AuthSubcommand = {
  usage: 'redirects [list] | redirects add URL... | redirects remove URL...',
  summary: 'Redirect targets beside the site URL; * within a segment, ** over segments.',
  most: 1000,
  run: async (work) => {
    const [act = 'list', ...given] = work.args
    const present = settingsOf(await storedSettings(work.database.run)).redirect_allow_list ?? []
    const change = Object.hasOwn(changes, act) ? changes[act] : undefined
    if (change === undefined && act !== 'list') throw misuse(`redirects takes list, add or remove, not "${act}"`)
    if ((given.length === 0) !== (act === 'list')) throw misuse(`usage: catalograph auth ${redirects.usage}`)
    const wanted = change === undefined ? present : change(present, given)
    if (change !== undefined) await save(work, { redirect_allow_list: addressesText(wanted) })
    for (const address of wanted) work.terminal.print(address)
  },
}

/** One per line. An address that would be split on reading is refused. */
function addressesText(addresses: readonly string[]): string {
  const text = addresses.join('\n')
  const read = textList(text)
  if (read.kind === 'value' && read.value.join('\n') === text) return text
  throw new CommandFailure('an address may hold neither blanks around it nor a comma outside braces')
}

type Act = (work: AuthWork, kind: MailKind) => Promise<void>

const acts: Readonly<Record<string, Act>> = {
  show: async ({ database, terminal }, kind) => {
    const template = (await listTemplates(database.run)).find((one) => one.kind === kind)
    terminal.print(template?.html ?? '')
  },
  set: async (work, kind) => {
    const { database, terminal, options } = work
    const { subject, html: file } = options
    if (subject === undefined && file === undefined) throw misuse('templates set needs --subject, --html or both')
    const texts = {
      ...(typeof subject === 'string' && { subject }),
      ...(typeof file === 'string' && { html: await htmlOf(work, file) }),
    }
    const saved = await setTemplate(database.run, kind, texts)
    if (saved.kind === 'problem') throw new CommandFailure(`nothing was saved: the template ${saved.problem}`)
    terminal.print(`${kind} is set; the next mail uses it`)
  },
  reset: async ({ database, terminal }, kind) => {
    await resetTemplate(database.run, kind)
    terminal.print(`${kind} is reset to its default`)
  },
}

export const templates: AuthSubcommand = {
  usage: 'templates [list] | templates show|reset KIND | templates set KIND [--subject TEXT] [--html FILE]',
  summary: `Templates of mails. Kinds: ${templateKinds.join(', ')}. FILE - is standard input.`,
  options: ['subject', 'html'],
  most: 2,
  run: async (work) => {
    const [act = 'list', kind] = work.args
    if (act === 'list') return listMails(work)
    const run = Object.hasOwn(acts, act) ? acts[act] : undefined
    if (run === undefined) throw misuse(`templates takes list, show, set or reset, not "${act}"`)
    if (kind === undefined || !isTemplateKind(kind)) throw misuse(`KIND is one of ${templateKinds.join(', ')}`)
    return run(work, kind)
  },
}

async function listMails({ database, terminal }: AuthWork): Promise<void> {
  for (const { kind, subject, changed } of await listTemplates(database.run)) {
    terminal.print(`${kind.padEnd(14)}${changed ? 'own      ' : 'default  '}${subject}`)
  }
}

async function htmlOf(work: AuthWork, file: string): Promise<string> {
  if (file === '-') return readInput(work)
  return readFile(file, 'utf8').catch(() => {
    throw new CommandFailure(`${file} cannot be read`)
  })
}
