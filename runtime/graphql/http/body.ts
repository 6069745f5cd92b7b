/**
 * Properties of a body's text, found without parsing it. JSON.parse takes a quarter of a second for a megabyte of
 * brackets; this scan takes a hundredth of that.
 */
export interface Look {
  /** The cost of parsing: one per item of a list or object, and several for each list or object and for a long text. */
  readonly weight: number
  /** The maximum nesting of brackets. */
  readonly depth: number
  /** A number outside of strings may not fit a double, or may print with other digits. */
  readonly hasExactNumber: boolean
  /** The members of an object as they are written, the last of those with equal names; null: not an object. */
  readonly members: ReadonlyMap<string, BodyMember> | null
}

export interface BodyMember {
  readonly text: string
  readonly weight: number
}

const bracketWeight = 4

/** A text may be a cursor, which is parsed as JSON; the document's text is not among the values. */
const charactersPerValue = 16

/** Numbers shorter than this are exact in a double. */
const manyDigits = 16

const [quote, comma, colon, backslash, dot, zero] = [34, 44, 58, 92, 46, 48]
const [smallE, largeE] = [101, 69]
const [openCurly, closeCurly, openSquare, closeSquare] = [123, 125, 91, 93]

/** Follows the brackets of a text; invalid JSON is found by the parser. */
export function lookAt(text: string): Look {
  const members = createMembers(text)
  let weight = 0
  let open = 0
  let depth = 0
  let digits = 0
  let isFraction = false
  let isExact = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) {
      digits += 1
      continue
    }
    if (digits > 0) {
      // Digits on both sides of a point belong to one number.
      if (code === dot) {
        isFraction = true
        continue
      }
      if (code === smallE || code === largeE || digits >= manyDigits) isExact = true
      if (isFraction && text.charCodeAt(at - 1) === zero) isExact = true
      digits = 0
      isFraction = false
    }
    if (code === quote) {
      const end = endOfText(text, at + 1)
      if (open === 1) members.text(at, end)
      else weight += (end - at) / charactersPerValue
      at = end
    } else if (code === openCurly || code === openSquare) {
      open += 1
      weight += bracketWeight
      if (open > depth) depth = open
    } else if (code === colon) {
      if (open === 1) members.begin(at + 1, weight)
    } else if (code === comma || code === closeCurly || code === closeSquare) {
      if (open === 1) members.end(at, weight)
      if (code === comma) weight += 1
      else open -= 1
    }
  }
  return {
    weight,
    depth,
    hasExactNumber: isExact || digits >= manyDigits,
    members: isObject(text) ? members.found : null,
  }
}

function createMembers(text: string) {
  const found = new Map<string, BodyMember>()
  let key: string | null = null
  let start: number | null = null
  let before = 0
  return {
    found,
    text: (from: number, to: number): void => {
      if (start === null) key = text.slice(from + 1, to)
    },
    begin: (from: number, weight: number): void => {
      start ??= from
      before = weight
    },
    end: (to: number, weight: number): void => {
      if (key !== null && start !== null)
        found.set(nameOf(key), { text: text.slice(start, to), weight: weight - before })
      key = start = null
    },
  }
}

/** A name may contain escapes. */
function nameOf(key: string): string {
  if (!key.includes('\\')) return key
  try {
    return String(JSON.parse(`"${key}"`))
  } catch {
    return key
  }
}

const isObject = (text: string): boolean => /^[ \t\n\r]*\{/.test(text)

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Texts with more quotation marks in them are read character by character. */
const fewMarks = 100

/** The index of the closing quotation mark. */
function endOfText(text: string, from: number): number {
  let at = from
  for (let marks = 0; marks < fewMarks; marks += 1) {
    const mark = text.indexOf('"', at)
    if (mark < 0) return text.length
    if (!isEscaped(text, at, mark)) return mark
    at = mark + 1
  }
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

/** @param from no earlier backslash escapes anything after it */
function isEscaped(text: string, from: number, place: number): boolean {
  let first = place
  while (first > from && text.charCodeAt(first - 1) === backslash) first -= 1
  return (place - first) % 2 === 1
}
