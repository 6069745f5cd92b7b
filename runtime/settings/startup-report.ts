import { settingRows } from './keys.ts'
import type { SettingKey } from './keys.ts'
import { gatherSettings, type Environment } from './sources.ts'

/** The settings as a text for people: name, present value, meaning. The value of a secret is never shown. */
export function renderSettings(given: Environment): string {
  const { environment } = gatherSettings(given)
  const width = Math.max(...settingRows.map(([, key]) => key.env.length))
  return settingRows.map(([, key]) => renderKey(key, environment, width)).join('\n')
}

function renderKey(key: SettingKey<unknown>, environment: Environment, width: number): string {
  const indent = ' '.repeat(width + 4)
  return `  ${key.env.padEnd(width)}  ${presentValue(key, environment)}\n${indent}${key.help}`
}

function presentValue(key: SettingKey<unknown>, environment: Environment): string {
  const text = environment[key.env]
  if (text === undefined || text === '')
    return key.fallback === null ? '(not set)' : `${String(key.fallback)}  (default)`
  if (key.secret) return '(set, not shown)'
  const parsed = key.parse(text)
  return parsed.kind === 'value' ? text : `${text}  <- ${parsed.problem}`
}
