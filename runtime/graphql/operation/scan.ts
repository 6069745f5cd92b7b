/**
 * Properties of a document's text, found without parsing it: the cost of reading it, and whether it must be refused. A
 * syntax tree of the same text costs a hundred times as much. A syntax error ends the scan early, as it ends the
 * parser.
 */
export interface DocumentScan {
  /** The cost of parsing and validating: a token counts as one, a selection set as several; so do long texts. */
  readonly weight: number
  /** An upper bound, up to a factor, of the comparisons of fields that may be merged. */
  readonly comparisons: number
  /** The nesting of brackets exhausts the stack of a recursive parser. */
  readonly deep: boolean
  /** Merging surely costs more than the limit of graphql-js. */
  readonly repetitive: boolean
}

/**
 * The comparisons of fields after which graphql-js gives a document up (graphql-js 16.15). Each pair of fields with one
 * response name in one selection set costs two of them, so a set that names a field n times costs n(n - 1) at least.
 */
const mergingBudget = 500_000

/** No stack holds the recursive calls for as many levels; fewer are left to the parser. */
const maxOpen = 10_000

/** A selection may have a type that is used for the first time. */
const tokensPerSet = 4
const commentsPerToken = 8
const charactersPerToken = 64

/** The maximum number of tokens and comments that are scanned: longer documents are heavy. */
const maxSteps = 30_000

export function scan(text: string): DocumentScan {
  const sets = createSets()
  let tokens = 0
  let comments = 0
  let open = 0
  /** Round brackets contain no selections. */
  let round = 0
  const goesOn = (): boolean => tokens + comments < maxSteps && open <= maxOpen && !sets.repetitive()
  for (let at = 0; at < text.length && goesOn();) {
    const kind = kindOf(text.charCodeAt(at))
    const start = at
    at += 1
    if (kind === kinds.blank) continue
    if (kind === kinds.unknown) break
    if (kind === kinds.comment) {
      at = endOfLine(text, at)
      comments += 1
      continue
    }
    tokens += 1
    if (kind === kinds.word || kind === kinds.number) {
      at = endOfWord(text, at)
      if (round === 0 && kind === kinds.word) sets.word(text, start, at)
    } else if (kind === kinds.quote) at = endOfString(text, at)
    else {
      if (kind === kinds.closeRound) round -= 1
      if (round === 0) sets.mark(kind)
      if (kind === kinds.openRound) round += 1
      if (kind >= kinds.openRound) open += kind >= kinds.closeRound ? -1 : 1
    }
  }
  const weight = tokens + tokensPerSet * sets.count() + comments / commentsPerToken + text.length / charactersPerToken
  return { weight, comparisons: tokens * sets.merged(), deep: open > maxOpen, repetitive: sets.repetitive() }
}

/** Some twenty milliseconds each. */
const maxWeight = 1_500
const maxComparisons = 40_000

/** Whether parsing and validating takes too long for the main thread. */
export const isHeavy = ({ weight, comparisons }: DocumentScan): boolean =>
  weight > maxWeight || comparisons > maxComparisons

/** Fields that are merged with each other: those of a selection set and its inline fragments. */
interface Group {
  first: string | null
  /** How often each name occurs; counted from the second field on. */
  names: Map<string, number> | null
}

interface Sets {
  readonly word: (text: string, start: number, end: number) => void
  readonly mark: (kind: number) => void
  readonly count: () => number
  /** Fields that repeat a name of their set, and spreads of fragments. */
  readonly merged: () => number
  readonly repetitive: () => boolean
}

/** Follows the selection sets of a document by its tokens outside of round brackets. */
function createSets(): Sets {
  /** The open sets; null: it holds no selections. */
  const groups: (Group | null)[] = []
  /** The meaning of the next word after the previous token. */
  let next: 'field' | 'fragment' | 'nothing' = 'field'
  let isInline = false
  /** Whether the current definition selects fields; null before its first token. */
  let selects: boolean | null = null
  let count = 0
  let merged = 0
  let spent = 0
  const field = (key: string): void => {
    const group = groups.at(-1)
    if (group == null) return
    if (group.first === null) {
      group.first = key
      return
    }
    const names = (group.names ??= new Map([[group.first, 1]]))
    const known = names.get(key) ?? 0
    names.set(key, known + 1)
    if (known === 0) return
    merged += 1
    spent += 2 * known
  }
  const fragment = (isCondition: boolean): void => {
    if (isCondition) {
      next = 'nothing'
      return
    }
    merged += 1
    isInline = false
  }
  return {
    word: (text, start, end) => {
      const meaning = next
      next = 'field'
      if (groups.length === 0) selects ??= executable.has(text.slice(start, end))
      else if (meaning === 'field') field(text.slice(start, end))
      else if (meaning === 'fragment') fragment(end - start === 2 && text.startsWith('on', start))
    },
    mark: (kind) => {
      // An alias is followed by the name of its field.
      next = kind === kinds.dot ? 'fragment' : kind === kinds.at || kind === kinds.colon ? 'nothing' : 'field'
      if (kind === kinds.dot) isInline = true
      else if (kind === kinds.openCurly) {
        selects ??= true
        count += 1
        groups.push(isInline ? (groups.at(-1) ?? null) : selects ? { first: null, names: null } : null)
        isInline = false
      } else if (kind === kinds.closeCurly) {
        groups.pop()
        if (groups.length === 0) selects = null
      }
    },
    count: () => count,
    merged: () => merged,
    repetitive: () => spent > mergingBudget,
  }
}

const executable: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription', 'fragment'])

/** The kind of a character or of the token that it begins; opening brackets before closing ones. */
const kinds = {
  unknown: 0,
  blank: 1,
  word: 2,
  number: 3,
  quote: 4,
  comment: 5,
  dot: 6,
  at: 7,
  colon: 8,
  sign: 9,
  openRound: 10,
  openCurly: 11,
  openSquare: 12,
  closeRound: 13,
  closeCurly: 14,
  closeSquare: 15,
} as const

const characters: Readonly<Record<Exclude<keyof typeof kinds, 'unknown'>, string>> = {
  blank: ' \t\n\r,',
  word: 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_',
  number: '-0123456789',
  quote: '"',
  comment: '#',
  dot: '.',
  at: '@',
  colon: ':',
  sign: '!$&=|',
  openRound: '(',
  openCurly: '{',
  openSquare: '[',
  closeRound: ')',
  closeCurly: '}',
  closeSquare: ']',
}

const kindOfCode = new Uint8Array(128)
for (const kind of Object.keys(characters) as (keyof typeof characters)[]) {
  for (const character of characters[kind]) kindOfCode[character.charCodeAt(0)] = kinds[kind]
}

const byteOrderMark = 0xfeff
const newline = 10
const carriageReturn = 13
const doubleQuote = 34
const backslash = 92

const kindOf = (code: number): number =>
  code < 128 ? (kindOfCode[code] ?? kinds.unknown) : code === byteOrderMark ? kinds.blank : kinds.unknown

/** A number's point and exponent sign begin another token: the count need not be exact. */
function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind !== kinds.word && kind !== kinds.number) break
    at += 1
  }
  return at
}

function endOfLine(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) !== newline && text.charCodeAt(at) !== carriageReturn) at += 1
  return at
}

/** The end of a string that was opened right before; the text's end if it is not closed. */
function endOfString(text: string, from: number): number {
  if (text.startsWith('""', from)) return endOfBlock(text, from + 2)
  let at = from
  while (at < text.length && text.charCodeAt(at) !== doubleQuote) {
    if (text.charCodeAt(at) === newline || text.charCodeAt(at) === carriageReturn) return text.length
    at += text.charCodeAt(at) === backslash ? 2 : 1
  }
  return at + 1
}

/** In a block string only its end can be escaped. */
function endOfBlock(text: string, from: number): number {
  for (let at = text.indexOf('"""', from); at >= 0; at = text.indexOf('"""', at + 3)) {
    if (text.charCodeAt(at - 1) !== backslash) return at + 3
  }
  return text.length
}
