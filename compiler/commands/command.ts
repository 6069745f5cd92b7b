import type { Environment } from '../../runtime/settings/sources.ts'
import type { Stage } from './progress.ts'

/** A command's access to its environment. */
export interface Terminal {
  readonly environment: Environment
  /** Writes a line of the result to standard output. */
  readonly print: (line: string) => void
  /** Writes a line about the progress to standard error. */
  readonly note: (line: string) => void
  /** Names the current stage, for a waiting person. */
  readonly stage: Stage
  /** True if a person reads the notes, not a program. */
  readonly human: boolean
  /** The content of standard input, without a final line end: for secrets, which must not be arguments. */
  readonly readInput?: () => Promise<string>
  /** Resolves with the signal's name when the process is asked to end; SIGHUP reloads if supported. */
  readonly stopRequested: (onReload?: () => void) => Promise<string>
}

export interface CommandOption {
  /** The placeholder of the value in the help; null: the option is a switch. */
  readonly value: string | null
  readonly help: string
  /** Whether it may be repeated, and holds all of its values; other options hold the last one. */
  readonly repeated?: true
}

/** The options on the command line; absent switches and values are undefined. */
export type GivenOptions = Readonly<Record<string, string | true | readonly string[] | undefined>>

export interface Command {
  readonly name: string
  readonly summary: string
  /** A longer text for the command's own help; may be empty. */
  readonly description: string
  readonly options: Readonly<Record<string, CommandOption>>
  /** The placeholder of its arguments in the help; absent: no arguments. */
  readonly takes?: string
  /** Why it cannot be run here, whatever its arguments are. */
  readonly lacking?: string
  /** Runs the command and resolves with the exit code. Rejects with CommandFailure for faults that the user can fix. */
  readonly run: (given: GivenOptions, terminal: Terminal, args: readonly string[]) => Promise<number>
}

/** Exit codes of shells and the Utility Conventions of POSIX. */
export const exitCodes = { done: 0, failed: 1, misused: 2 } as const

/** A failure that one sentence explains. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}

/** The command line itself is wrong. */
export function misuse(message: string): CommandFailure {
  return new CommandFailure(message, exitCodes.misused)
}
