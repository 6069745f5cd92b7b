import type { Command } from '../../compiler/commands/command.ts'
import { unseen } from '../../compiler/commands/progress.ts'
import { runArguments } from '../../compiler/commands/run.ts'
import type { Environment } from '../../runtime/settings/sources.ts'

/** The result of a command. */
export interface CommandAnswer {
  readonly exitCode: number
  readonly printed: string
  readonly noted: string
}

export interface CommandSurroundings {
  readonly environment?: Environment
  readonly input?: string
  readonly stop?: Promise<string>
  /** Hears each note as it comes. */
  readonly onNote?: (line: string) => unknown
  /** Notes are sentences for a person; otherwise the log is JSON. */
  readonly human?: boolean
}

/** Hides the embedded database, and its secret, of a clone in which `npm start` ran. */
const withoutEmbedded: Environment = { CATALOGRAPH_DATA: '/nowhere' }

/** Runs a command line as the program does, in this process and with an environment of its own. */
export const runCommand = async (
  commands: readonly Command[],
  args: readonly string[],
  {
    environment = {},
    input = '',
    stop = new Promise(() => undefined),
    onNote = () => undefined,
    human = false,
  }: CommandSurroundings = {},
): Promise<CommandAnswer> => {
  const [printed, noted]: [string[], string[]] = [[], []]
  const exitCode = await runArguments(commands, args, {
    environment: { ...withoutEmbedded, ...environment },
    print: (line) => printed.push(line),
    note: (line) => {
      noted.push(line)
      onNote(line)
    },
    stage: unseen,
    human,
    readInput: async () => input,
    stopRequested: () => stop,
  })
  return { exitCode, printed: printed.join('\n'), noted: noted.join('\n') }
}
