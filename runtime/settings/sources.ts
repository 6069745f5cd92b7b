import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { settingRows } from './keys.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Names the file of settings. */
export const configName = 'CATALOGRAPH_CONFIG'

/** `JWT_SECRET_FILE` names a file with JWT_SECRET, as container secrets are stored. */
export const fileSuffix = '_FILE'

/** The combined sources of the settings. */
export interface GatheredSettings {
  readonly environment: Environment
  readonly problems: readonly string[]
}

const settingNames: ReadonlySet<string> = new Set(settingRows.map(([, key]) => key.env))

const isGiven = (value: string | undefined): value is string => value !== undefined && value !== ''

/** A problem never repeats the file's content. */
const readText = (name: string, path: string): { readonly text: string } | { readonly problem: string } => {
  try {
    return { text: readFileSync(path, 'utf8') }
  } catch (error) {
    return { problem: `${name} cannot be read: ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` }
  }
}

/** Lines of NAME=value, in Node's format (util.parseEnv); an unknown name is an error there. */
function fromConfig(environment: Environment): GatheredSettings {
  const path = environment[configName]
  if (!isGiven(path)) return { environment: {}, problems: [] }
  const read = readText(configName, path)
  if ('problem' in read) return { environment: {}, problems: [read.problem] }
  const values = parseEnv(read.text)
  const isKnown = (name: string): boolean => settingNames.has(name) || settingNames.has(name.replace(fileSuffix, ''))
  const strange = Object.keys(values).filter((name) => !isKnown(name))
  return { environment: values, problems: strange.map((name) => `${path}: ${name} is not a setting`) }
}

function fromFiles(environment: Environment): GatheredSettings {
  const values: Record<string, string> = {}
  const problems: string[] = []
  for (const name of settingNames) {
    const path = environment[`${name}${fileSuffix}`]
    if (!isGiven(path)) continue
    const read = readText(`${name}${fileSuffix}`, path)
    if (isGiven(environment[name])) problems.push(`${name} and ${name}${fileSuffix} are both set`)
    else if ('problem' in read) problems.push(read.problem)
    else values[name] = read.text.replace(/\r?\n$/, '')
  }
  return { environment: values, problems }
}

const withoutEmpty = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => isGiven(value)))

/** The environment takes precedence over the file of CATALOGRAPH_CONFIG; either may name files for single settings. */
export function gatherSettings(environment: Environment): GatheredSettings {
  const config = fromConfig(environment)
  const both = { ...config.environment, ...withoutEmpty(environment) }
  const files = fromFiles(both)
  return { environment: { ...both, ...files.environment }, problems: [...config.problems, ...files.problems] }
}
