import { parseArgs } from 'node:util'
import type { Environment } from '../../runtime/settings/sources.ts'
import type { Stage } from './progress.ts'
import { didYouMean } from '../../runtime/lib/text.ts'

export interface Terminal {
  readonly environment: Environment
  readonly print: (line: string) => void
  readonly note: (line: string) => void
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

export type GivenOptions = Readonly<Record<string, string | true | readonly string[] | undefined>>

export interface Command {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly options: Readonly<Record<string, CommandOption>>
  readonly takes?: string
  /** The first arguments that it knows, such as its subcommands; completed in shells. */
  readonly words?: readonly string[]
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

interface Given {
  readonly options: GivenOptions
  readonly args: readonly string[]
}

/** Parses a command's own arguments. Throws CommandFailure (exit code 2) for unknown ones. */
export function parseCommandLine(command: Command, args: readonly string[]): Given {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === null ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  return {
    options: collected(
      command,
      tokens.flatMap((token) => readToken(command, token)),
    ),
    args: tokens.flatMap((token) => (token.kind === 'positional' ? token.value : [])),
  }
}

function collected(command: Command, entries: readonly Entry[]): GivenOptions {
  const valuesOf = (name: string): readonly string[] =>
    entries.flatMap(([other, value]) => (other === name && value !== true ? [value] : []))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, command.options[name]?.repeated === true ? valuesOf(name) : value]),
  )
}

type Token =
  | { readonly kind: 'option'; readonly name: string; readonly rawName: string; readonly value: string | undefined }
  | { readonly kind: 'positional'; readonly value: string }
  | { readonly kind: 'option-terminator' }

type Entry = readonly [string, string | true]

function readToken(command: Command, token: Token): readonly Entry[] {
  if (token.kind !== 'option') {
    if (command.takes !== undefined) return []
    throw misuse(`${command.name} takes no argument${token.kind === 'positional' ? ` "${token.value}"` : ''}`)
  }
  const option = Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined
  if (option === undefined) throw unknownOption(command, token.rawName, token.name)
  if (option.value === null) return [readSwitch(token.rawName, token.name, token.value)]
  if (token.value === undefined || token.value === '') throw misuse(`${token.rawName} needs a value: ${option.value}`)
  return [[token.name, token.value]]
}

function readSwitch(rawName: string, name: string, value: string | undefined): Entry {
  if (value !== undefined) throw misuse(`${rawName} takes no value`)
  return [name, true]
}

function unknownOption(command: Command, rawName: string, name: string): Error {
  const advice = didYouMean(name, Object.keys(command.options), (near) => `--${near}`)
  return misuse(`${command.name} has no option ${rawName}${advice}`)
}

/** A screen: settings have a command of their own. */
export const renderHelp = (commands: readonly Command[]): string =>
  [
    'catalograph: a GraphQL API compiled from the catalogue of a Postgres database',
    '',
    'Usage: catalograph COMMAND [options]',
    '',
    'Commands:',
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    'catalograph help COMMAND explains one, catalograph --version shows the version.',
  ].join('\n')

export function renderCommandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([name, option]): readonly [string, string] => [
    option.value === null ? `--${name}` : `--${name} ${option.value}`,
    option.help,
  ])
  return [
    `Usage: catalograph ${command.name}${options.length === 0 ? '' : ' [options]'}${takes(command)}`,
    '',
    command.summary,
    ...(command.description === '' ? [] : ['', command.description]),
    ...(options.length === 0 ? [] : ['', 'Options:', ...columns(options)]),
  ].join('\n')
}

const takes = ({ takes: args }: Command): string => (args === undefined ? '' : ` ${args}`)

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(12, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

export function textOption(given: GivenOptions, name: string): string | null {
  const value = given[name]
  return typeof value === 'string' ? value : null
}

export function repeatedOption(given: GivenOptions, name: string): readonly string[] {
  const value = given[name]
  return typeof value === 'object' ? value : []
}

/** @throws CommandFailure if the option is given and is not a number of this form */
export function numberOption(given: GivenOptions, name: string, form: RegExp): number | null {
  const text = textOption(given, name)
  if (text !== null && !form.test(text)) throw misuse(`--${name} takes a number, not "${text}"`)
  return text === null ? null : Number(text)
}

/** Names separated by commas. @throws CommandFailure if one is empty */
export function namesOption(given: GivenOptions, name: string, usual: string): readonly string[] {
  const names = (textOption(given, name) ?? usual).split(',').map((one) => one.trim())
  if (names.includes('')) throw misuse(`--${name} takes names with commas between them`)
  return names
}
