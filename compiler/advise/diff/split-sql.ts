/** One statement of an SQL text. */
export interface SqlStatement {
  readonly text: string
  /** Line of its first word, from 1. */
  readonly line: number
  /** Its words outside of quotes and brackets, in capitals, at most six: `CREATE INDEX CONCURRENTLY ...`. */
  readonly head: readonly string[]
}

/**
 * Tokens of the scanner of PostgreSQL (manual 4.1), as far as splitting needs them: comments, strings of every kind,
 * quoted names, words, and single characters.
 */
const token =
  /--[^\n]*|\/\*|[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$|[\p{L}_][\p{L}\p{N}_$]*|[^]/uy

/**
 * Splits at semicolons that end a statement: not those in brackets (rules) nor those of SQL function bodies (`begin
 * atomic ... end`). A line that begins with a backslash at the start of a statement is a psql command. A wrong split
 * runs nothing wrong: the server takes one statement at a time, and refuses both halves of one as well as two in one.
 */
export function splitSql(sql: string): readonly SqlStatement[] {
  const statements: SqlStatement[] = []
  let [state, line] = [untouched, 1]
  const close = (end: number): void => {
    const { first, head } = state
    if (first !== null) statements.push({ text: sql.slice(first.position, end).trimEnd(), line: first.line, head })
    state = untouched
  }
  for (let position = 0; position < sql.length;) {
    let found = tokenAt(sql, position)
    if (found === '\\' && state.first === null) found = lineAt(sql, position)
    if (found.startsWith('\\') && state.first === null) statements.push({ text: found.trimEnd(), line, head: [] })
    else if (found === ';' && state.brackets === 0 && state.blocks === 0) close(position)
    else if (!isSpace(found)) state = after(state, found, { position, line })
    position += found.length
    line += found.split('\n').length - 1
  }
  close(sql.length)
  return statements
}

interface Place {
  readonly position: number
  readonly line: number
}

interface State {
  /** The position of its first token; null before it. */
  readonly first: Place | null
  readonly head: readonly string[]
  readonly brackets: number
  /** Open `begin atomic` and, inside, `case`. */
  readonly blocks: number
  readonly last: string
}

const untouched: State = { first: null, head: [], brackets: 0, blocks: 0, last: '' }

const isSpace = (text: string): boolean => /^(?:\s|--|\/\*)/u.test(text)
const isWord = (text: string): boolean => /^[\p{L}_][^']*$/u.test(text)

function after(state: State, found: string, place: Place): State {
  const word = isWord(found) ? found.toUpperCase() : found
  return {
    first: state.first ?? place,
    head: isWord(found) && state.head.length < 6 && state.brackets === 0 ? [...state.head, word] : state.head,
    brackets: Math.max(0, state.brackets + (found === '(' ? 1 : found === ')' ? -1 : 0)),
    blocks: state.blocks + blockStep(state, word),
    last: word,
  }
}

function blockStep({ blocks, last, head }: State, word: string): number {
  if (word === 'ATOMIC' && last === 'BEGIN' && head[0] === 'CREATE') return 1
  if (blocks === 0) return 0
  return word === 'CASE' ? 1 : word === 'END' ? -1 : 0
}

/** A psql command ends with its line. */
function lineAt(sql: string, position: number): string {
  const end = sql.indexOf('\n', position)
  return sql.slice(position, end < 0 ? undefined : end)
}

function tokenAt(sql: string, position: number): string {
  token.lastIndex = position
  const found = token.exec(sql)?.[0] ?? sql.charAt(position)
  if (found === '/*') return sql.slice(position, commentEnd(sql, position))
  if (!found.startsWith('$') || found.length === 1) return found
  const end = sql.indexOf(found, position + found.length)
  return end < 0 ? sql.slice(position) : sql.slice(position, end + found.length)
}

/** Comments nest (manual 4.1.5). */
function commentEnd(sql: string, start: number): number {
  const edge = /\/\*|\*\//g
  edge.lastIndex = start
  let depth = 0
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  return sql.length
}
