import type { Manifest } from '../../runtime/contract/manifest.ts'
import { createRecall } from '../../runtime/lib/recall.ts'

/**
 * The manifest as JSON: keys sorted, so that the same manifest always gives the same bytes, and each entity, function,
 * role and enum on a line of its own, so that a changed table is one changed line in a diff.
 */
export function manifestText(manifest: Manifest): string {
  const members = Object.entries(manifest)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}:${memberText(value)}`)
  return `{\n${members.join(',\n')}\n}\n`
}

function memberText(value: unknown): string {
  if (Array.isArray(value)) return lines('[', value.map(itemText), ']')
  if (isRecord(value)) return lines('{', membersText(value), '}')
  return JSON.stringify(value)
}

const recallText = createRecall<string>()

/** Entities and enums that did not change are the very same objects as in the revision before. */
const itemText = (item: unknown): string => (isRecord(item) ? recallText(item, [], () => stableJson(item)) : stableJson(item))

const lines = (open: string, items: readonly string[], close: string): string =>
  items.length === 0 ? open + close : `${open}\n${items.join(',\n')}\n${close}`

/** JSON on one line, keys in code unit order. */
function stableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`
  return isRecord(value) ? `{${membersText(value).join(',')}}` : JSON.stringify(value)
}

const membersText = (value: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${stableJson(value[key])}`)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
