import { didYouMean, suggest } from '../lib/text.ts'
import { settingKeys, settingRows } from './keys.ts'
import type { SettingKey, SettingName, Settings } from './keys.ts'
import { configName, fileSuffix, gatherSettings, type Environment } from './sources.ts'

export type ReadSettings =
  | {
      readonly kind: 'settings'
      readonly settings: Settings
      /** Variables of the environment that look like a mistyped setting: reported, not refused. */
      readonly hints: readonly string[]
    }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

/**
 * Reads the settings from an environment, and from the files that it names (sources.ts): the settings, or all problems
 * together. An empty variable counts as absent, as shells and container files leave them. An unknown name is a problem
 * if it has our prefix and a hint if it resembles a setting, because other programs share the environment.
 */
export function readSettings(environment: Environment): ReadSettings {
  const gathered = gatherSettings(environment)
  const read = settingRows.map(([name, key]) => ({ name, ...readKey(key, gathered.environment) }))
  const problems = [...gathered.problems, ...read.flatMap(({ problem }) => problem ?? []), ...strangers(environment)]
  const halves = problems.length > 0 ? [] : half(read)
  if (halves.length > 0) return { kind: 'invalid', problems: halves }
  if (problems.length > 0) return { kind: 'invalid', problems }
  const settings = Object.fromEntries(read.map(({ name, value }) => [name, value])) as unknown as Settings
  return { kind: 'settings', settings, hints: nearMisses(environment) }
}

/** Settings that require each other. */
const pairs = [['jwtSecretPrevious', 'jwtSecretPreviousUntil']] as const

function half(read: readonly { readonly name: SettingName; readonly value: unknown }[]): readonly string[] {
  const isSet = (wanted: SettingName): boolean => read.some(({ name, value }) => name === wanted && value !== null)
  return pairs.flatMap(([one, other]) => {
    if (isSet(one) === isSet(other)) return []
    const [there, missing] = isSet(one) ? [one, other] : [other, one]
    return [`${settingKeys[there].env} needs ${settingKeys[missing].env}`]
  })
}

interface ReadKey {
  readonly value: unknown
  readonly problem: string | null
}

function readKey(key: SettingKey<unknown>, environment: Environment): ReadKey {
  const text = environment[key.env]
  if (text === undefined || text === '') return { value: key.fallback, problem: null }
  const parsed = key.parse(text)
  return parsed.kind === 'value'
    ? { value: parsed.value, problem: null }
    : { value: null, problem: `${key.env} ${parsed.problem}` }
}

const prefix = 'CATALOGRAPH_'
const settingNames = [...settingRows.flatMap(([, key]) => [key.env, `${key.env}${fileSuffix}`]), configName]

function unknownNames(environment: Environment): readonly string[] {
  return Object.keys(environment).filter((name) => environment[name] !== '' && !settingNames.includes(name))
}

function strangers(environment: Environment): readonly string[] {
  return unknownNames(environment)
    .filter((name) => name.startsWith(prefix))
    .map((name) => `${name} is not a setting${didYouMean(name, settingNames)}`)
}

function nearMisses(environment: Environment): readonly string[] {
  return unknownNames(environment)
    .filter((name) => name.includes('_') && !name.startsWith(prefix) && suggest(name, settingNames) !== null)
    .map((name) => `${name} is not a setting${didYouMean(name, settingNames)}`)
}
