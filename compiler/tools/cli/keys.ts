import { projectKeys } from '../../../runtime/identity/keys.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitCodes } from './command.ts'
import { embeddedSecret } from './local-secret.ts'
import { neededSettingsOf } from './needed-settings.ts'

/** The project keys of JWT_SECRET, or of the secret that `start` made. */
export const keysCommand: Command = {
  name: 'keys',
  summary: 'Print the keys of the project: anon for browsers, service_role for servers.',
  description:
    'The keys are derived from JWT_SECRET, or from the secret of the embedded set-up; one secret gives the same keys\n' +
    'each time. The service_role key bypasses every row-level security policy: keep it on servers.',
  options: {},
  run: async (_given, terminal) => {
    const { secret, whose } = await secretOf(neededSettingsOf(terminal))
    const keys = projectKeys(secret)
    terminal.print(`anon          ${keys.anon}`)
    terminal.print(`service_role  ${keys.serviceRole}`)
    terminal.note(`catalograph: these are the keys of ${whose}`)
    return exitCodes.done
  },
}

async function secretOf(settings: Settings): Promise<{ readonly secret: string; readonly whose: string }> {
  if (settings.jwtSecret !== null) return { secret: settings.jwtSecret, whose: 'JWT_SECRET' }
  const secret = await embeddedSecret(settings)
  if (secret !== null) return { secret, whose: `the embedded database in ${settings.dataFolder}` }
  throw new CommandFailure(
    settings.databaseUrl === null && settings.databaseOwnerUrl === null
      ? 'there is no secret to derive keys from: set JWT_SECRET, or run catalograph start once'
      : 'there is no secret to derive keys from: set JWT_SECRET to the one that this database is served with',
  )
}
