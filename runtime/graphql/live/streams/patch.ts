import { isLosslessNumber, parse, stringify } from 'lossless-json'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { diffLists } from './list-diff.ts'

/**
 * The answer with a JSON Patch (RFC 6902) from the `data` of one answer to that of another; null if it would not be
 * shorter than `most` characters, or cannot be made. Numbers keep their digits.
 */
export function jsonPatch(before: string, after: string, most: number): string | null {
  if (before.length + after.length > longest || before.includes(ofObjects) || after.includes(ofObjects)) return null
  try {
    const operations = new Operations(most - opening.length - closing.length)
    compare('', dataOf(before), dataOf(after), operations)
    return `${opening}${operations.texts.join(',')}${closing}`
  } catch (error) {
    // Too long, or nested too deeply for the stack.
    if (error instanceof RangeError) return null
    throw error
  }
}

const opening = '{"extensions":{"patch":['
const closing = ']}}'

/** Characters of both answers: longer ones would block the event loop. */
const longest = 500_000

/** A member of this name would be lost in the parsed value. */
const ofObjects = '"__proto__"'

const dataOf = (text: string): unknown => {
  const answer = parse(text, null, { onDuplicateKey: ({ newValue }) => newValue })
  return isJsonObject(answer) ? answer['data'] : null
}

class Operations {
  readonly texts: string[] = []
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  add(operation: JsonObject): void {
    const text = stringify(operation) ?? ''
    this.#left -= text.length + 1
    if (this.#left < 0) throw new RangeError('The patch is longer than the answer.')
    this.texts.push(text)
  }
}

function compare(path: string, before: unknown, after: unknown, operations: Operations): void {
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(path, before, after, operations)
  if (isPlain(before) && isPlain(after) && idOf(before) === idOf(after)) {
    return compareObjects(path, before, after, operations)
  }
  if (!isSame(before, after)) operations.add({ op: 'replace', path, value: after })
}

function compareObjects(path: string, before: JsonObject, after: JsonObject, operations: Operations): void {
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) operations.add({ op: 'remove', path: `${path}/${pointer(name)}` })
  }
  for (const [name, value] of Object.entries(after)) {
    const at = `${path}/${pointer(name)}`
    if (Object.hasOwn(before, name)) compare(at, before[name], value, operations)
    else operations.add({ op: 'add', path: at, value })
  }
}

function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  operations: Operations,
): void {
  const ids = { before: idsOf(before), after: idsOf(after) }
  if (ids.before === null || ids.after === null) return compareByPlace(path, before, after, operations)
  for (const step of diffLists(ids.before, ids.after)) {
    if (step.kind === 'remove') operations.add({ op: 'remove', path: `${path}/${step.at}` })
    else if (step.kind === 'move')
      operations.add({ op: 'move', from: `${path}/${step.from}`, path: `${path}/${step.to}` })
    else operations.add({ op: 'add', path: `${path}/${step.at}`, value: after[step.item] })
  }
  const known = new Map(ids.before.map((id, place) => [id, before[place]]))
  for (const [place, id] of ids.after.entries()) {
    if (known.has(id)) compare(`${path}/${place}`, known.get(id), after[place], operations)
  }
}

function compareByPlace(...[path, before, after, operations]: Parameters<typeof compareLists>): void {
  for (let place = before.length - 1; place >= after.length; place -= 1) {
    operations.add({ op: 'remove', path: `${path}/${place}` })
  }
  for (const [place, value] of after.entries()) {
    if (place < before.length) compare(`${path}/${place}`, before[place], value, operations)
    else operations.add({ op: 'add', path: `${path}/${place}`, value })
  }
}

/** The identities of a list's items; null if some have none. */
function idsOf(items: readonly unknown[]): readonly string[] | null {
  const ids: string[] = []
  for (const item of items) {
    const id = idOf(item)
    if (id === null) return null
    ids.push(id)
  }
  return new Set(ids).size === ids.length ? ids : null
}

/** Of a row its nodeId, of an edge its node's. */
function idOf(item: unknown): string | null {
  if (!isPlain(item)) return null
  const { nodeId, node } = item
  if (typeof nodeId === 'string') return nodeId
  return isPlain(node) && typeof node['nodeId'] === 'string' ? node['nodeId'] : null
}

const isPlain = (value: unknown): value is JsonObject => isJsonObject(value) && !isLosslessNumber(value)

const isSame = (before: unknown, after: unknown): boolean =>
  before === after ||
  (typeof before === 'object' && typeof after === 'object' && stringify(before) === stringify(after))

/** RFC 6901 section 3. */
const pointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
