import { dirname, isAbsolute, join } from 'node:path'

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

export interface ScriptStatement extends SqlStatement {
  readonly file: string
}

export interface ScriptPlace {
  readonly file: string
  readonly line: number
}

/** A migration without a verdict: it failed, or would leave the transaction. */
export class MigrationFailure extends Error {
  override readonly name = 'MigrationFailure'
  readonly place: ScriptPlace

  constructor({ file, line }: ScriptPlace, message: string) {
    super(message)
    this.place = { file, line }
  }
}

interface ScriptSource {
  /** Rejects if the file cannot be read. */
  readonly read: (path: string) => Promise<string>
  /** Name of the database for the script. */
  readonly database: string
}

/** The meaning of a psql command here: none, another file's statements, the end of this one; or a refusal. */
type Meaning =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'include'; readonly path: string }
  | { readonly kind: 'quit' }
  | { readonly kind: 'refused'; readonly why: string }

const nothing: Meaning = { kind: 'nothing' }
const refusedMeaning = (why: string): Meaning => ({ kind: 'refused', why })

/** Variables that control psql itself (manual, psql, Variables); others would be interpolated into statements. */
const isOfPsql = (name: string): boolean => /^[A-Z][A-Z_]*$/.test(name)

const variable = (command: string, [name = '']: readonly string[]): Meaning =>
  name === '' || isOfPsql(name)
    ? nothing
    : refusedMeaning(`${command} ${name} is a variable of psql, whose value is not put in here`)

const connect = ([name = '-']: readonly string[], { database }: ScriptSource): Meaning =>
  name === '-' || name === database
    ? nothing
    : refusedMeaning(`\\connect ${name} would leave the database ${database}, on which the migration is tried`)

const include = (words: readonly string[], base: string): Meaning => {
  const [path = ''] = words
  return path === ''
    ? refusedMeaning('\\i names no file')
    : { kind: 'include', path: isAbsolute(path) ? path : join(base, path) }
}

/** Commands that format output, guard against hostile dumps, or end the rows of COPY, which is refused itself. */
const passedOver: ReadonlySet<string> = new Set(
  [
    '.',
    'restrict',
    'unrestrict',
    'echo',
    'qecho',
    'warn',
    'timing',
    'pset',
    'x',
    'a',
    't',
    'f',
    'H',
    'C',
    'T',
    'encoding',
    'errverbose',
  ].map((name) => `\\${name}`),
)

const lineWords = (line: string): readonly string[] =>
  [...line.matchAll(/'((?:[^']|'')*)'|(\S+)/g)].map(([, quoted, plain]) => quoted?.replaceAll("''", "'") ?? plain ?? '')

function meaningOfLine(line: string, file: string, source: ScriptSource): Meaning {
  const [command = '', ...words] = lineWords(line)
  if (passedOver.has(command)) return nothing
  switch (command) {
    case '\\set':
    case '\\unset':
      return variable(command, words)
    case '\\c':
    case '\\connect':
      return connect(words, source)
    case '\\i':
    case '\\include':
      return include(words, '')
    case '\\ir':
    case '\\include_relative':
      return include(words, dirname(file))
    case '\\q':
    case '\\quit':
      return { kind: 'quit' }
    default:
      return refusedMeaning(`${command} is a command of psql that has no meaning here`)
  }
}

/** The maximum depth of includes, which may be cyclic. */
const deepest = 16

/**
 * The statements of a script as psql would send them, with included files (PostgreSQL manual, psql). Rejects with
 * MigrationFailure for unsupported commands of psql, and with the errors of `read`.
 */
export async function readScript(file: string, source: ScriptSource, depth = 0): Promise<readonly ScriptStatement[]> {
  const statements: ScriptStatement[] = []
  for (const statement of splitSql(await source.read(file))) {
    if (!statement.text.startsWith('\\')) {
      statements.push({ ...statement, file })
      continue
    }
    const place = { file, line: statement.line }
    const meaning = meaningOfLine(statement.text, file, source)
    if (meaning.kind === 'refused') throw new MigrationFailure(place, meaning.why)
    if (meaning.kind === 'quit') break
    if (meaning.kind === 'nothing') continue
    if (depth === deepest) throw new MigrationFailure(place, 'files include each other more than sixteen deep')
    statements.push(...(await readScript(meaning.path, source, depth + 1)))
  }
  return statements
}
