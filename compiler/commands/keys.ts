import { didYouMean } from '../../runtime/lib/text.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { type Command, exitCodes, misuse } from './command.ts'
import { add, list, printKeys, revoke, type KeysSubcommand } from './keys/subcommands.ts'

const subcommands: Readonly<Record<string, KeysSubcommand>> = { list, add, revoke }

export const keysCommand: Command = {
  name: 'keys',
  summary: 'Print the keys anon and service_role; add and revoke keys.',
  description: [
    'Each line has the role of a key, the key and its id. The keys are derived from JWT_SECRET, or from the secret of the',
    'embedded set-up; one secret gives the same keys each time. The service_role key bypasses every row-level security',
    'policy: keep it on servers.',
    '',
    ...Object.values(subcommands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`),
    '',
    'Which keys were added and revoked is in the database of DATABASE_OWNER_URL or DATABASE_URL, or in the embedded one while',
    'it runs.',
  ].join('\n'),
  options: {},
  takes: '[SUBCOMMAND]',
  words: Object.keys(subcommands),
  run: async (_given, terminal, [name, ...args]) => {
    const subcommand = name === undefined ? printKeys : subcommandOf(name)
    if (args.length !== subcommand.takes) throw misuse(`usage: catalograph keys ${subcommand.usage}`)
    await subcommand.run({ settings: neededSettingsOf(terminal), terminal, given: args[0] ?? '' })
    return exitCodes.done
  },
}

function subcommandOf(name: string): KeysSubcommand {
  const known = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined
  if (known !== undefined) return known
  throw misuse(`keys knows no ${name}${didYouMean(name, Object.keys(subcommands))}`)
}
