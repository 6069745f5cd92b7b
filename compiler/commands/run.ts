import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { didYouMean } from '../../runtime/lib/text.ts'
import {
  CommandFailure,
  exitCodes,
  misuse,
  type Command,
  type Terminal,
  renderCommandHelp,
  renderHelp,
  parseCommandLine,
} from './command.ts'
import { packageVersion } from '../../runtime/lib/package.ts'

/** argv -> one command -> exit code. Every failure ends here, as a sentence on standard error. */
export async function runArguments(
  commands: readonly Command[],
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    return await dispatch(commands, args, terminal)
  } catch (error) {
    terminal.note(`catalograph: ${reasonOf(error)}`)
    if (error instanceof CommandFailure && error.exitCode === exitCodes.misused)
      terminal.note(`Try: catalograph ${helpAbout(commands, args)}`)
    return error instanceof CommandFailure ? error.exitCode : exitCodes.failed
  }
}

async function dispatch(commands: readonly Command[], args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined) {
    terminal.note(renderHelp(commands))
    return exitCodes.misused
  }
  if (isVersion(name)) return say(terminal, await packageVersion())
  if (name === 'help' || name === '--help' || name === '-h') return help(commands, rest, terminal)
  const command = findCommand(commands, name)
  if (rest.includes('--help') || rest.includes('-h')) return say(terminal, renderCommandHelp(command))
  if (command.lacking !== undefined) throw misuse(command.lacking)
  const { options, args: given } = parseCommandLine(command, rest)
  return command.run(options, terminal, given)
}

/** Whether the first argument asks for the version. */
export const isVersion = (name: string): boolean => ['--version', '-v', 'version'].includes(name)

/** The arguments that explain the command of a mistake, or else all. */
const helpAbout = (commands: readonly Command[], [name]: readonly string[]): string =>
  commands.some((command) => command.name === name) ? `help ${name}` : 'help'

function help(commands: readonly Command[], rest: readonly string[], terminal: Terminal): number {
  const [about] = rest
  return about === undefined
    ? say(terminal, renderHelp(commands))
    : say(terminal, renderCommandHelp(findCommand(commands, about)))
}

function say(terminal: Terminal, text: string): number {
  terminal.print(text)
  return exitCodes.done
}

function findCommand(commands: readonly Command[], name: string): Command {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = [...commands.map((command) => command.name), 'help']
  throw misuse(`unknown command ${name}${didYouMean(name, names)}`)
}
