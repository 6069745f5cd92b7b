import { showSettings } from '../../../runtime/console/admin/settings.ts'
import { providers } from '../../../runtime/auth/providers/provider-table.ts'
import { migrateAuth } from '../../../runtime/auth/schema/migrate.ts'
import { isAuthSettingName, type AuthSettingName } from '../../../runtime/auth/settings/setting-keys.ts'
import { settingsOf, storedSettings } from '../../../runtime/auth/settings/store.ts'
import { misuse } from '../command.ts'
import {
  googleLines,
  readInput,
  renderValue,
  save,
  switchOf,
  type AuthSubcommand,
  type AuthWork,
} from './subcommand.ts'

const seen = 'Every running process applies it within a second.'

export const enable: AuthSubcommand = {
  usage: 'enable [--site-url URL]',
  summary: 'Prepare the tables of auth where they are missing, and answer under /auth/v1.',
  options: ['site-url'],
  run: async (work) => {
    const { terminal, urls, options } = work
    const site = options['site-url']
    for (const name of await migrateAuth({ url: urls.owner })) terminal.note(`Prepared: ${name}`)
    await save(work, { auth_enabled: 'on', ...(typeof site === 'string' && { site_url: site }) })
    terminal.print(`Auth is enabled. ${seen}`)
  },
}

export const disable: AuthSubcommand = {
  usage: 'disable',
  summary: 'Refuse every request to auth; users and settings are kept.',
  run: async (work) => {
    await save(work, { auth_enabled: 'off' })
    work.terminal.print(`Auth is disabled. ${seen}`)
  },
}

export const url: AuthSubcommand = {
  usage: 'url [URL]',
  summary: 'Show or set the site URL, the default target of redirects.',
  most: 1,
  run: async (work) => {
    const [address] = work.args
    if (address !== undefined) await save(work, { site_url: address })
    await show(work, ['site_url'])
  },
}

export const guests: AuthSubcommand = {
  usage: 'guests [on|off]',
  summary: 'Show or set whether guests may sign in.',
  most: 1,
  run: async (work) => {
    const word = switchOf(work.args)
    if (word !== null) await save(work, { anonymous_enabled: word })
    await show(work, ['anonymous_enabled'])
  },
}

const googleNames = Object.values(providers.google.settings)

export const googleSwitch: AuthSubcommand = {
  usage: 'google [on|off] [--client-id ID] [--secret-stdin]',
  summary: 'Show or set the sign-in with Google; prints what is missing.',
  options: ['client-id', 'secret-stdin'],
  most: 1,
  run: async (work) => {
    const word = switchOf(work.args)
    const id = work.options['client-id']
    const changes = {
      ...(word !== null && { google_enabled: word }),
      ...(typeof id === 'string' && { google_client_id: id }),
      ...(work.options['secret-stdin'] === true && { google_secret: (await readInput(work)).trim() }),
    }
    if (Object.keys(changes).length > 0) await save(work, changes)
    else for (const line of googleLines(await storedSettings(work.database.run))) work.terminal.note(line)
    await show(work, googleNames)
  },
}

export const set: AuthSubcommand = {
  usage: 'set NAME VALUE | set NAME --stdin',
  summary: 'Set a setting; with --stdin its value is read from standard input: use it for secrets.',
  options: ['stdin'],
  most: 2,
  run: async (work) => {
    const [name, value] = work.args
    const fromInput = work.options['stdin'] === true
    if (name === undefined || (value === undefined) !== fromInput) throw misuse(`usage: catalograph auth ${set.usage}`)
    await save(work, { [name]: value ?? (await readInput(work)) })
    await show(work, [knownSetting(name)])
  },
}

export const reset: AuthSubcommand = {
  usage: 'reset NAME',
  summary: 'Reset a setting to its default.',
  most: 1,
  run: async (work) => {
    const [name] = work.args
    if (name === undefined) throw misuse('usage: catalograph auth reset NAME')
    await save(work, { [name]: null })
    await show(work, [knownSetting(name)])
  },
}

export const get: AuthSubcommand = {
  usage: 'get [NAME]',
  summary: 'Show one setting, or all of them with their meanings; secrets are not shown.',
  most: 1,
  run: async (work) => {
    const [name] = work.args
    if (name !== undefined) return show(work, [knownSetting(name)])
    for (const setting of showSettings(await storedSettings(work.database.run))) {
      const note = setting.set ? '' : '  (default)'
      work.terminal.print(`${setting.name} = ${renderValue(setting)}${note}\n    ${setting.help}`)
    }
  },
}

export const status: AuthSubcommand = {
  usage: 'status',
  summary: 'Show whether auth is enabled, its addresses, guests, Google, and limits of mails.',
  run: async (work) => {
    const stored = await storedSettings(work.database.run)
    const { auth_enabled, site_url } = settingsOf(stored)
    const works = auth_enabled && site_url !== null
    work.terminal.print(`Auth is ${works ? 'enabled' : 'not enabled; run catalograph auth enable --site-url URL'}`)
    await show(work, statusNames)
    for (const line of googleLines(stored)) work.terminal.note(line)
  },
}

const statusNames: readonly AuthSettingName[] = [
  'site_url',
  'redirect_allow_list',
  'disable_signup',
  'autoconfirm',
  'anonymous_enabled',
  'mail_ceiling',
  ...googleNames,
]

async function show({ database, terminal }: AuthWork, names: readonly AuthSettingName[]): Promise<void> {
  const settings = showSettings(await storedSettings(database.run))
  for (const setting of settings) {
    if (names.includes(setting.name)) terminal.print(`${setting.name} = ${renderValue(setting)}`)
  }
}

function knownSetting(name: string): AuthSettingName {
  if (isAuthSettingName(name)) return name
  throw misuse(`unknown setting ${name}; catalograph auth get lists all settings`)
}
