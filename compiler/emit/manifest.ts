import type { EntityFacts, Manifest } from '../../runtime/contract/manifest.ts'
import { joinDigests } from '../../runtime/contract/artifact.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import type { Steps } from '../../runtime/lib/steps.ts'
import { createLru } from '../../runtime/lib/caches.ts'
import { sameItems } from '../../runtime/lib/memo/differences.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { isJsonObject } from '../../runtime/lib/json.ts'

/**
 * The manifest as JSON: keys sorted, so that the same manifest always gives the same bytes, and each entity, function,
 * role and enum on its own line, so that a changed table is one changed line in a diff.
 */
export const manifestText = (manifest: Manifest): string => `{\n${blocksOf(manifest).map(blockText).join(',\n')}\n}\n`

/** The result of digestLines for the text, without building lines of the previous manifest's parts. */
export function* manifestDigest(memo: Memo, manifest: Manifest): Steps<string> {
  const ofEntities = yield* memo.map(entityDigest, manifest.entities)
  return joinDigests([
    opening,
    ...sortedMembers(manifest).map(({ label, value }) => {
      if (label === entitiesLabel) return memo.of(blockDigests, ofEntities, label)
      return typeof value === 'object' && value !== null
        ? memo.of(memberDigests, value, memo, label)
        : sha256Hex(label + JSON.stringify(value))
    }),
    closing,
    afterLast,
  ])
}

/** The digests of a member's lines, a line each. */
function memberDigests(value: object, memo: Memo, label: string): string {
  const { open, items, close } = blockOf(label, value)
  return digestsWithin(
    open,
    items.map((item) => itemDigest(memo, item)),
    close,
  )
}

/** The same for a list with known digests of its items. */
const blockDigests = (digests: readonly string[], label: string): string => digestsWithin(`${label}[`, digests, ']')

const digestsWithin = (open: string, digests: readonly string[], close: string): string =>
  digests.length === 0 ? sha256Hex(open + close) : [sha256Hex(open), ...digests, sha256Hex(close)].join('\n')

const entitiesLabel = '"entities":'

/** One member of the manifest: its items are lines between the opening and the closing one. */
interface Block {
  readonly open: string
  readonly items: readonly Item[]
  readonly close: string
}

interface Item {
  readonly label: string
  readonly value: unknown
}

const blocksOf = (manifest: Manifest): readonly Block[] =>
  sortedMembers(manifest).map(({ label, value }) => blockOf(label, value))

function blockOf(label: string, value: unknown): Block {
  if (Array.isArray(value)) {
    return { open: `${label}[`, items: value.map((item) => ({ label: '', value: item })), close: ']' }
  }
  if (isJsonObject(value)) return { open: `${label}{`, items: sortedMembers(value), close: '}' }
  return { open: label + JSON.stringify(value), items: [], close: '' }
}

const sortedMembers = (value: object): readonly Item[] =>
  Object.keys(value)
    .sort()
    .map((key) => ({ label: `${JSON.stringify(key)}:`, value: (value as Readonly<Record<string, unknown>>)[key] }))

const blockText = ({ open, items, close }: Block): string =>
  items.length === 0 ? open + close : `${open}\n${items.map(itemText).join(',\n')}\n${close}`

/** There are thousands of them. */
const entityDigest = (entity: EntityFacts): string => recordDigest(entity, '')

const [opening, closing, afterLast] = [sha256Hex('{'), sha256Hex('}'), sha256Hex('')]

const itemText = ({ label, value }: Item): string => label + stableJson(value)

/** Unchanged enums and other items are identical to those of the previous revision. */
const itemDigest = (memo: Memo, { label, value }: Item): string =>
  isJsonObject(value) ? memo.of(recordDigest, value, label) : sha256Hex(itemText({ label, value }))

const recordDigest = (value: object, label: string): string => sha256Hex(itemText({ label, value }))

/** JSON on one line, keys in code unit order. It builds no intermediate lists: there are thousands of entities. */
function stableJson(value: unknown): string {
  if (Array.isArray(value)) return listJson(value)
  if (typeof value === 'boolean' || value === null) return String(value)
  if (!isJsonObject(value)) return JSON.stringify(value)
  let text = ''
  for (const { key, label } of membersInOrder(Object.keys(value))) text += label + stableJson(value[key])
  return `{${text}}`
}

interface Member {
  readonly key: string
  /** The text before its value, including the comma. */
  readonly label: string
}

interface Order {
  readonly keys: readonly string[]
  readonly members: readonly Member[]
}

/** By the number of keys: columns and the like have few distinct sets of keys, so each is sorted once. */
const orders = createLru<number, readonly Order[]>(1_000)
const rememberedOrders = 16

function membersInOrder(keys: readonly string[]): readonly Member[] {
  const known = orders.get(keys.length) ?? []
  for (const { keys: before, members } of known) if (sameItems(before, keys)) return members
  const members = keys
    .toSorted()
    .map((key, place) => ({ key, label: `${place === 0 ? '' : ','}${JSON.stringify(key)}:` }))
  orders.set(keys.length, [{ keys, members }, ...known.slice(0, rememberedOrders - 1)])
  return members
}

function listJson(items: readonly unknown[]): string {
  let text = ''
  for (const item of items) text += `${text === '' ? '' : ','}${stableJson(item)}`
  return `[${text}]`
}
