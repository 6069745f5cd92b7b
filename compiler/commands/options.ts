import { parseArgs } from 'node:util'
import { didYouMean } from '../../runtime/lib/text.ts'
import type { Command, GivenOptions } from './command.ts'
import { misuse } from './command.ts'

/** The parsed arguments of a command. */
export interface Given {
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
