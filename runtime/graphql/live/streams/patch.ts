import { diffLists } from './list-diff.ts'

/**
 * The answer with a JSON Patch (RFC 6902) from the `data` of one answer to that of another; null if it would not be
 * shorter than `most` characters, or would cost more than some milliseconds. Values are compared and copied as texts, so
 * that numbers keep their digits, and equal ones are not read.
 */
export function jsonPatch(before: string, after: string, most: number): string | null {
  if (before.length + after.length > longest || before.includes(ofObjects) || after.includes(ofObjects)) return null
  const patch: Patch = { operations: [], left: most - opening.length - closing.length, unread: mostRead }
  try {
    compare(patch, '', dataOf(patch, before), dataOf(patch, after))
    return `${opening}${patch.operations.join(',')}${closing}`
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const opening = '{"extensions":{"patch":['
const closing = ']}}'

/** Characters of both answers: longer ones would block the event loop. */
const longest = 500_000

/** Characters that are read, once for each level of objects and lists above a difference: some milliseconds. */
const mostRead = 2_000_000

/** A client that applies it could change a prototype. */
const ofObjects = '"__proto__"'

/** Items of a list that are matched by their identity; the time grows with the square. */
const mostMatched = 1_000

interface Patch {
  readonly operations: string[]
  /** Characters that operations may still have. */
  left: number
  /** Characters that may still be read. */
  unread: number
}

interface Value {
  readonly text: string
  readonly start: number
  readonly end: number
}

type Members = ReadonlyMap<string, Value>

const jsonOf = ({ text, start, end }: Value): string => text.slice(start, end)
const isObject = ({ text, start }: Value): boolean => text.charCodeAt(start) === brace
const isList = ({ text, start }: Value): boolean => text.charCodeAt(start) === bracket
const nothing: Value = { text: 'null', start: 0, end: 4 }

const dataOf = (patch: Patch, text: string): Value =>
  membersOf(patch, { text, start: 0, end: text.length }).get('"data"') ?? nothing

interface Operation {
  readonly op: 'add' | 'replace' | 'remove' | 'move'
  readonly from?: string
  readonly path: string
}

function addOperation(patch: Patch, operation: Operation, value?: Value): void {
  const head = JSON.stringify(operation)
  const text = value === undefined ? head : `${head.slice(0, -1)},"value":${jsonOf(value)}}`
  patch.left -= text.length + 1
  if (patch.left < 0) throw new RangeError('The patch is longer than the answer.')
  patch.operations.push(text)
}

function compare(patch: Patch, path: string, before: Value, after: Value): void {
  if (jsonOf(before) === jsonOf(after)) return
  if (isList(before) && isList(after)) return compareLists(patch, path, before, after)
  if (isObject(before) && isObject(after)) {
    const members = { before: membersOf(patch, before), after: membersOf(patch, after) }
    if (idOf(patch, members.before) === idOf(patch, members.after)) return compareObjects(patch, path, members)
  }
  addOperation(patch, { op: 'replace', path }, after)
}

function compareObjects(
  patch: Patch,
  path: string,
  { before, after }: { readonly before: Members; readonly after: Members },
): void {
  for (const name of before.keys())
    if (!after.has(name)) addOperation(patch, { op: 'remove', path: `${path}/${pointer(name)}` })
  for (const [name, value] of after) {
    const at = `${path}/${pointer(name)}`
    const known = before.get(name)
    if (known === undefined) addOperation(patch, { op: 'add', path: at }, value)
    else compare(patch, at, known, value)
  }
}

/** Equal items at both ends stay, and those between are compared. */
function compareLists(patch: Patch, path: string, before: Value, after: Value): void {
  const [all, wanted] = [readValues(patch, before), readValues(patch, after)]
  const isEqual = (place: number, other: number): boolean => {
    const [one, two] = [all[place], wanted[other]]
    return one !== undefined && two !== undefined && jsonOf(one) === jsonOf(two)
  }
  let first = 0
  while (isEqual(first, first)) first += 1
  let last = 0
  while (last < Math.min(all.length, wanted.length) - first && isEqual(all.length - 1 - last, wanted.length - 1 - last))
    last += 1
  const [old, now] = [all.slice(first, all.length - last), wanted.slice(first, wanted.length - last)]
  const ids = { before: idsOf(patch, old), after: idsOf(patch, now) }
  const at = (place: number): string => `${path}/${first + place}`
  if (ids.before === null || ids.after === null) return compareByPlace(patch, at, old, now)
  for (const step of diffLists(ids.before, ids.after)) {
    if (step.kind === 'remove') addOperation(patch, { op: 'remove', path: at(step.at) })
    else if (step.kind === 'move') addOperation(patch, { op: 'move', from: at(step.from), path: at(step.to) })
    else addOperation(patch, { op: 'add', path: at(step.at) }, now[step.item])
  }
  const known = new Map(ids.before.map((id, place) => [id, old[place]]))
  for (const [place, id] of ids.after.entries()) {
    const [one, two] = [known.get(id), now[place]]
    if (one !== undefined && two !== undefined) compare(patch, at(place), one, two)
  }
}

function compareByPlace(
  patch: Patch,
  at: (place: number) => string,
  before: readonly Value[],
  after: readonly Value[],
): void {
  for (let place = before.length - 1; place >= after.length; place -= 1)
    addOperation(patch, { op: 'remove', path: at(place) })
  for (const [place, value] of after.entries()) {
    const known = before[place]
    if (known === undefined) addOperation(patch, { op: 'add', path: at(place) }, value)
    else compare(patch, at(place), known, value)
  }
}

/** The identities of a list's items; null if some have none. */
function idsOf(patch: Patch, items: readonly Value[]): readonly string[] | null {
  if (items.length > mostMatched) throw new RangeError('The list is too long.')
  const ids: string[] = []
  for (const item of items) {
    const id = isObject(item) ? idOf(patch, membersOf(patch, item)) : null
    if (id === null) return null
    ids.push(id)
  }
  return new Set(ids).size === ids.length ? ids : null
}

/** Of a row its nodeId, of an edge its node's. */
function idOf(patch: Patch, members: Members): string | null {
  const id = members.get('"nodeId"')
  if (id !== undefined && id.text.charCodeAt(id.start) === quote) return jsonOf(id)
  const node = members.get('"node"')
  const ofNode = node !== undefined && isObject(node) ? membersOf(patch, node).get('"nodeId"') : undefined
  return ofNode !== undefined && ofNode.text.charCodeAt(ofNode.start) === quote ? jsonOf(ofNode) : null
}

/** RFC 6901 section 3. @param name as JSON */
const pointer = (name: string): string => String(JSON.parse(name)).replaceAll('~', '~0').replaceAll('/', '~1')

const [quote, comma, colon, backslash] = [0x22, 0x2c, 0x3a, 0x5c]
const [bracket, bracketEnd, brace, braceEnd] = [0x5b, 0x5d, 0x7b, 0x7d]
const space = 0x20

function membersOf(patch: Patch, object: Value): Members {
  const values = readValues(patch, object)
  const members = new Map<string, Value>()
  for (let place = 0; place + 1 < values.length; place += 2) {
    const [name, value] = [values[place], values[place + 1]]
    if (name !== undefined && value !== undefined) members.set(jsonOf(name), value)
  }
  return members
}

/** The values of an object or list of valid JSON, names included. */
function readValues(patch: Patch, { text, start, end }: Value): readonly Value[] {
  patch.unread -= end - start
  if (patch.unread < 0) throw new RangeError('It would take too long.')
  const values: Value[] = []
  for (let at = start + 1; at < end - 1; at += 1) {
    const code = text.charCodeAt(at)
    if (code <= space || code === comma || code === colon) continue
    const value = { text, start: at, end: endOf(text, at) }
    values.push(value)
    at = value.end - 1
  }
  return values
}

/** Where the value that begins here ends. */
function endOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at += 1
      for (let inside = text.charCodeAt(at); inside !== quote; inside = text.charCodeAt(at))
        at += inside === backslash ? 2 : 1
    } else if (code === bracket || code === brace) depth += 1
    else if (code === bracketEnd || code === braceEnd) {
      // Behind a number or word.
      if (depth === 0) return at
      depth -= 1
    } else if (depth > 0 || (code > space && code !== comma)) continue
    else return at
    if (depth === 0) return at + 1
  }
  return text.length
}
