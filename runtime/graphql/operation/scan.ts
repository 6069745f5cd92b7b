import { GraphQLError, Lexer, Source, TokenKind, type Token } from 'graphql'

/**
 * Properties of a document's text, found without parsing it: the cost of reading it, and whether it must be refused. A
 * syntax tree of the same text costs a hundred times as much. A syntax error ends the scan early, as it ends the
 * parser.
 */
interface DocumentScan {
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

/** The maximum number of tokens that are read: longer documents are heavy. */
const maxTokens = 30_000

/** A document of more characters is heavy by its length, so only its beginning is read. */
const maxCharacters = 100_000

export function scan(text: string): DocumentScan {
  const sets = createSets()
  let tokens = 0
  let open = 0
  /** Round brackets contain no selections. */
  let round = 0
  let comments = 0
  for (const { kind, value, prev } of tokensOf(text)) {
    tokens += 1
    for (let before = prev; before?.kind === TokenKind.COMMENT; before = before.prev) comments += 1
    if (kind === TokenKind.PAREN_R) round -= 1
    if (round === 0) sets.token(kind, value)
    if (kind === TokenKind.PAREN_L) round += 1
    if (opening.has(kind)) open += 1
    else if (closing.has(kind)) open -= 1
    if (tokens >= maxTokens || open > maxOpen || sets.repetitive()) break
  }
  const weight = tokens + tokensPerSet * sets.count() + comments / commentsPerToken + text.length / charactersPerToken
  return { weight, comparisons: tokens * sets.merged(), deep: open > maxOpen, repetitive: sets.repetitive() }
}

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_L, TokenKind.BRACE_L, TokenKind.BRACKET_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.PAREN_R, TokenKind.BRACE_R, TokenKind.BRACKET_R])

/** The tokens up to the end, which is one, or before the first one that the lexer refuses. */
function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text.slice(0, maxCharacters)))
  try {
    do yield lexer.advance()
    while (lexer.token.kind !== TokenKind.EOF)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
  }
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
  /** Takes the next token. */
  readonly token: (kind: TokenKind, value: string) => void
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
  let next: Meaning = 'field'
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
  const name = (value: string): void => {
    const meaning = next
    next = 'field'
    if (groups.length === 0) selects ??= executable.has(value)
    else if (meaning === 'field') field(value)
    else if (meaning === 'fragment') fragment(value === 'on')
  }
  return {
    token: (kind, value) => {
      if (kind === TokenKind.NAME) return name(value)
      next = nextAfter[kind] ?? 'field'
      if (kind === TokenKind.SPREAD) isInline = true
      else if (kind === TokenKind.BRACE_L) {
        selects ??= true
        count += 1
        groups.push(isInline ? (groups.at(-1) ?? null) : selects ? { first: null, names: null } : null)
        isInline = false
      } else if (kind === TokenKind.BRACE_R) {
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

type Meaning = 'field' | 'fragment' | 'nothing'

/** The meaning of a name after these tokens. An alias is followed by the name of its field. */
const nextAfter: Readonly<Partial<Record<TokenKind, Meaning>>> = {
  [TokenKind.SPREAD]: 'fragment',
  [TokenKind.AT]: 'nothing',
  [TokenKind.COLON]: 'nothing',
}
