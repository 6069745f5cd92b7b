import { didYouMean } from '../../runtime/lib/text.ts'
import { authUrls, withAuthDatabase } from './auth-database.ts'
import { redirects, type AuthSubcommand, templates } from './auth/subcommand.ts'
import { disable, enable, get, googleSwitch, guests, reset, set, status, url } from './auth/switches.ts'
import { type Command, type GivenOptions, exitCodes, misuse } from './command.ts'
import { neededSettingsOf } from './needed-settings.ts'

const subcommands = {
  enable,
  disable,
  status,
  url,
  redirects,
  google: googleSwitch,
  guests,
  templates,
  set,
  get,
  reset,
} as const

export const authCommand: Command = {
  name: 'auth',
  summary: 'Enable auth, and change its settings and mail templates.',
  description: [
    ...Object.values(subcommands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`),
    '',
    'The database is that of DATABASE_AUTH_URL, DATABASE_OWNER_URL or DATABASE_URL, or the embedded one while it runs.',
  ].join('\n'),
  options: {
    'site-url': { value: 'URL', help: 'enable: address of the application.' },
    'client-id': { value: 'ID', help: 'google: OAuth client id.' },
    'secret-stdin': { value: null, help: 'google: read the client secret from standard input.' },
    subject: { value: 'TEXT', help: 'templates set: subject of the mail.' },
    html: { value: 'FILE', help: 'templates set: file with the HTML of the mail.' },
    stdin: { value: null, help: 'set: read the value from standard input.' },
  },
  takes: 'SUBCOMMAND',
  words: Object.keys(subcommands),
  run: async (options, terminal, [name, ...args]) => {
    const subcommand = findSubcommand(name)
    checkGiven(subcommand, options, args)
    const urls = await authUrls(neededSettingsOf(terminal))
    await withAuthDatabase(urls.auth, (database) => subcommand.run({ args, options, terminal, urls, database }))
    return exitCodes.done
  },
}

function findSubcommand(name: string | undefined): AuthSubcommand {
  const names = Object.keys(subcommands)
  if (name === undefined) throw misuse(`auth takes one of ${names.join(', ')}`)
  if (Object.hasOwn(subcommands, name)) return subcommands[name as keyof typeof subcommands]
  throw misuse(`auth knows no ${name}${didYouMean(name, names)}`)
}

function checkGiven(
  { usage, options: known = [], most = 0 }: AuthSubcommand,
  options: GivenOptions,
  args: readonly string[],
): void {
  const stray = Object.keys(options).find((option) => !known.includes(option))
  if (stray !== undefined || args.length > most) throw misuse(`usage: catalograph auth ${usage}`)
}
