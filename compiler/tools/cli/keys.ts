import { projectKeys } from '../../../runtime/identity/keys.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitCodes } from './command.ts'
import { readLocalSecret } from './local-secret.ts'
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
    const keys = projectKeys(await secretOf(neededSettingsOf(terminal)))
    terminal.print(`anon          ${keys.anon}`)
    terminal.print(`service_role  ${keys.serviceRole}`)
    return exitCodes.done
  },
}

async function secretOf(settings: Settings): Promise<string> {
  const secret = settings.jwtSecret ?? (await readLocalSecret(settings.dataFolder))
  if (secret !== null) return secret
  throw new CommandFailure('there is no secret to derive keys from: set JWT_SECRET, or run catalograph start once')
}
