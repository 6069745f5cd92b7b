import { readSettings } from '../../runtime/settings/read.ts'
import { renderSettings } from '../../runtime/settings/startup-report.ts'
import { type Command, exitCodes } from './command.ts'

/** Every setting with its present value, secrets hidden; fails if one of them is unusable. */
export const settingsCommand: Command = {
  name: 'settings',
  summary: 'Show every setting, its present value and its meaning.',
  description: 'Settings are environment variables. Values of secrets are never shown.',
  options: {},
  run: async (_given, terminal) => {
    terminal.print(renderSettings(terminal.environment))
    const read = readSettings(terminal.environment)
    const remarks = read.kind === 'invalid' ? read.problems : read.hints
    for (const remark of remarks) terminal.note(`catalograph: ${remark}`)
    return read.kind === 'invalid' ? exitCodes.failed : exitCodes.done
  },
}
