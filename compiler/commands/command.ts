import type { Environment } from '../../runtime/settings/sources.ts'
import type { Stage } from './progress.ts'

/** What a command may touch of the world around it. */
export interface Terminal {
  readonly environment: Environment
  /** Writes a line of the result to standard output. */
  readonly print: (line: string) => void
  /** Writes a line about the work to standard error. */
  readonly note: (line: string) => void
  /** Names what the command works on, for a person who waits for it. */
  readonly stage: Stage
  /** True when notes are read by a person, not by a program. */
  readonly human: boolean
  /** Everything that standard input holds, without the line end at its end: for secrets, which no argument should be. */
  readonly readInput?: () => Promise<string>
  /** Resolves with the signal's name when the process is asked to end; SIGHUP reloads where something can be. */
  readonly stopRequested: (onReload?: () => void) => Promise<string>
}

export interface CommandOption {
  /** What stands for the value in the help; null: the option is a switch. */
  readonly value: string | null
  readonly help: string
  /** Whether it may be given several times, and holds all of its values; other options hold the last one. */
  readonly repeated?: true
}

/** What was given on the command line; a switch that was not given and an absent value are undefined. */
export type GivenOptions = Readonly<Record<string, string | true | readonly string[] | undefined>>

export interface Command {
  readonly name: string
  readonly summary: string
  /** More to say in the command's own help; may be empty. */
  readonly description: string
  readonly options: Readonly<Record<string, CommandOption>>
  /** What stands for its arguments in the help; without it the command takes none. */
  readonly takes?: string
  /** Why it cannot be run here, whatever stands behind its name. */
  readonly lacking?: string
  /** Does the work and resolves with the exit code. Rejects with CommandFailure for what the user can fix. */
  readonly run: (given: GivenOptions, terminal: Terminal, args: readonly string[]) => Promise<number>
}

/** Exit codes, as shells and the Utility Conventions of POSIX use them. */
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
