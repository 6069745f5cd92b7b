import { parseArgs } from 'node:util'
import { suggest } from '../../runtime/lib/suggest.ts'
import type { Command, GivenOptions } from './command.ts'
import { misuse } from './command.ts'

/** Reads a command's own arguments. Throws CommandFailure (exit code 2) for anything that the command does not know. */
export function readOptions(command: Command, args: readonly string[]): GivenOptions {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === null ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
  return Object.fromEntries(tokens.map((token) => readToken(command, token)))
}

type Token =
  | { readonly kind: 'option'; readonly name: string; readonly rawName: string; readonly value: string | undefined }
  | { readonly kind: 'positional'; readonly value: string }
  | { readonly kind: 'option-terminator' }

function readToken(command: Command, token: Token): readonly [string, string | true] {
  if (token.kind !== 'option') {
    throw misuse(`${command.name} takes no argument${token.kind === 'positional' ? ` "${token.value}"` : ''}`)
  }
  const option = Object.hasOwn(command.options, token.name) ? command.options[token.name] : undefined
  if (option === undefined) throw unknownOption(command, token.rawName, token.name)
  if (option.value === null) return readSwitch(token.rawName, token.name, token.value)
  if (token.value === undefined || token.value === '') throw misuse(`${token.rawName} needs a value: ${option.value}`)
  return [token.name, token.value]
}

function readSwitch(rawName: string, name: string, value: string | undefined): readonly [string, true] {
  if (value !== undefined) throw misuse(`${rawName} takes no value`)
  return [name, true]
}

function unknownOption(command: Command, rawName: string, name: string): Error {
  const near = suggest(name, Object.keys(command.options))
  return misuse(`${command.name} has no option ${rawName}${near === null ? '' : `; did you mean --${near}?`}`)
}
