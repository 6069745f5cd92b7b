import { existsSync, readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '../../../runtime/lib/json.ts'
import { didYouMean, messageOf } from '../../../runtime/lib/text.ts'
import type { Environment } from '../../../runtime/settings/sources.ts'
import { type Command, type GivenOptions, misuse } from '../command.ts'

/** The file that says which checks run (docs/workflow.md). */

export const usualFile = 'catalograph.json'

export interface Check {
  readonly name: string
  readonly command: Command
  readonly options: GivenOptions
  readonly args: readonly string[]
  /** Options with which the command writes what it else compares with; null: it compares with nothing that it writes. */
  readonly writing: GivenOptions | null
}

export interface CheckConfiguration {
  /** Null: the checks look at the database of the environment. */
  readonly migrations: { readonly folder: string } | { readonly command: string } | null
  /** Files of SQL that run after the migrations. */
  readonly seed: readonly string[]
  /** Whether the tables of auth are made before the migrations. */
  readonly auth: boolean
  readonly checks: readonly Check[]
}

interface Part {
  readonly load: () => Promise<Command>
  /** The options of the file -> those that check and write nothing. */
  readonly checking?: (options: GivenOptions) => GivenOptions
  readonly writing?: (options: GivenOptions) => GivenOptions
  /** Options without which it checks nothing. */
  readonly needs?: readonly string[]
  /** Its value is a file, for this subcommand. */
  readonly subcommand?: string
}

const withCheck = (options: GivenOptions): GivenOptions => ({ ...options, check: true })
const unchanged = (options: GivenOptions): GivenOptions => options
const certified = ({ check, factor: _factor, ...options }: GivenOptions): GivenOptions => ({ ...options, out: check })

/** In the order in which they run. Options are those of the commands. */
const parts: Readonly<Record<string, Part>> = {
  diff: { load: async () => (await import('../diff.ts')).diffCommand, needs: ['against'] },
  cost: { load: async () => (await import('../cost.ts')).costCommand, needs: ['check'], writing: certified },
  compile: {
    load: async () => (await import('../compile.ts')).compileCommand,
    checking: withCheck,
    writing: unchanged,
  },
  codegen: {
    load: async () => (await import('../codegen.ts')).codegenCommand,
    checking: withCheck,
    writing: unchanged,
  },
  policies: { load: async () => (await import('../policies.ts')).policiesCommand, subcommand: 'test' },
  verify: { load: async () => (await import('../verify.ts')).loadVerifyCommand() },
}

const keys = ['migrations', 'seed', 'auth', ...Object.keys(parts)]

/** @throws CommandFailure (exit code 2) that names the file, the key and what is expected */
export async function readConfiguration(file: string, environment: Environment): Promise<CheckConfiguration> {
  const given = readJson(file)
  const at: At = { file, environment }
  for (const key of Object.keys(given)) if (!keys.includes(key)) throw keyProblem(at, key, unknownKey(key, keys))
  const checks: Check[] = []
  for (const [name, part] of Object.entries(parts))
    if (given[name] !== undefined) checks.push(...(await checksOf(at, name, part, given[name])))
  if (checks.length === 0) throw misuse(`${file}: no check is named; the checks are ${Object.keys(parts).join(', ')}`)
  const { migrations, seed = [], auth = true } = given
  if (typeof auth !== 'boolean') throw expected(at, 'auth', 'true or false', auth)
  return { migrations: migrationsOf(at, migrations), seed: textsAt(at, 'seed', seed), auth, checks }
}

interface At {
  readonly file: string
  readonly environment: Environment
}

function readJson(file: string): JsonObject {
  if (!existsSync(file))
    throw misuse(`${file} does not exist: it names the checks, for example {"compile": {"out": "generated"}}`)
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isJsonObject(parsed)) return parsed
  } catch (error) {
    throw misuse(`${file} is not JSON: ${messageOf(error)}`)
  }
  throw misuse(`${file}: a JSON object is expected`)
}

const keyProblem = ({ file }: At, key: string, text: string): Error => misuse(`${file}: ${key}: ${text}`)

const expected = (at: At, key: string, what: string, value: unknown): Error =>
  keyProblem(at, key, `${what} is expected, not ${JSON.stringify(value)}`)

const unknownKey = (key: string, known: readonly string[]): string =>
  `there is no such key${didYouMean(key, known)}; the keys are ${known.join(', ')}`

/** `$NAME` is the value of a variable of the environment, for what does not belong into a file. */
function textAt(at: At, key: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw expected(at, key, 'a text', value)
  const variable = /^\$([A-Za-z_]\w*)$/.exec(value)?.[1]
  if (variable === undefined) return value
  const found = at.environment[variable] ?? ''
  if (found === '') throw keyProblem(at, key, `the variable ${variable} of the environment is not set`)
  return found
}

const textsAt = (at: At, key: string, value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).map((one: unknown) => textAt(at, key, one))

function migrationsOf(at: At, value: unknown): CheckConfiguration['migrations'] {
  if (value === undefined) return null
  if (!isJsonObject(value)) return { folder: textAt(at, 'migrations', value) }
  const [strange] = Object.keys(value).filter((key) => key !== 'command')
  if (strange !== undefined) throw keyProblem(at, `migrations.${strange}`, unknownKey(strange, ['command']))
  return { command: textAt(at, 'migrations.command', value['command']) }
}

/** A list is several checks of one command, such as clients of two roles. */
async function checksOf(at: At, name: string, part: Part, value: unknown): Promise<readonly Check[]> {
  const command = await part.load()
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((one, index) => {
    const key = values.length === 1 ? name : `${name}[${index}]`
    if (part.subcommand !== undefined)
      return { name: key, command, options: {}, args: [part.subcommand, textAt(at, key, one)], writing: null }
    if (!isJsonObject(one)) throw expected(at, key, 'an object of options', one)
    const absent = part.needs?.find((option) => one[option] === undefined)
    if (absent !== undefined)
      throw keyProblem(at, `${key}.${absent}`, `it is needed: ${command.options[absent]?.help ?? ''}`)
    const options: GivenOptions = Object.fromEntries(
      Object.entries(one).map(([option, given]) => [option, optionOf(at, key, command, option, given)]),
    )
    const { checking = unchanged, writing } = part
    return { name: key, command, options: checking(options), args: [], writing: writing?.(options) ?? null }
  })
}

function optionOf(at: At, key: string, command: Command, name: string, value: unknown): GivenOptions[string] {
  const place = `${key}.${name}`
  const option = Object.hasOwn(command.options, name) ? command.options[name] : undefined
  // A command that is not installed has no options; it says so when it runs.
  if (option === undefined && command.lacking !== undefined) return true
  if (option === undefined) throw keyProblem(at, place, unknownKey(name, Object.keys(command.options)))
  if (option.value === null) {
    if (typeof value !== 'boolean') throw expected(at, place, 'true or false', value)
    return value || undefined
  }
  if (typeof value === 'number') return String(value)
  const texts = textsAt(at, place, value)
  return option.repeated === true ? texts : texts.join(',')
}
