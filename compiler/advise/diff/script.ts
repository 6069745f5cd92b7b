import { dirname, isAbsolute, join } from 'node:path'
import { splitSql, type SqlStatement } from './split-sql.ts'

/** A statement and the file that it stands in. */
export interface ScriptStatement extends SqlStatement {
  readonly file: string
}

/** Where in a migration something stands. */
export interface ScriptPlace {
  readonly file: string
  readonly line: number
}

/** A migration that gives no verdict: it failed, or would not stay within the transaction. */
export class MigrationFailure extends Error {
  override readonly name = 'MigrationFailure'
  readonly place: ScriptPlace

  constructor({ file, line }: ScriptPlace, message: string) {
    super(message)
    this.place = { file, line }
  }
}

export interface ScriptSource {
  /** Rejects where the file cannot be read. */
  readonly read: (path: string) => Promise<string>
  /** Name of the database that the script is run on. */
  readonly database: string
}

/** What a command of psql means here: nothing, the statements of another file, the end of this one; or why it has no meaning. */
type Meaning =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'include'; readonly path: string }
  | { readonly kind: 'quit' }
  | { readonly kind: 'refused'; readonly why: string }

const nothing: Meaning = { kind: 'nothing' }
const refused = (why: string): Meaning => ({ kind: 'refused', why })

/** Variables that steer psql itself (manual, psql, Variables); of others it would put the values into statements. */
const isOfPsql = (name: string): boolean => /^[A-Z][A-Z_]*$/.test(name)

const variable = (command: string, [name = '']: readonly string[]): Meaning =>
  name === '' || isOfPsql(name)
    ? nothing
    : refused(`${command} ${name} is a variable of psql, whose value is not put in here`)

const connect = ([name = '-']: readonly string[], { database }: ScriptSource): Meaning =>
  name === '-' || name === database
    ? nothing
    : refused(`\\connect ${name} would leave the database ${database}, on which the migration is tried`)

const include = (words: readonly string[], base: string): Meaning => {
  const [path = ''] = words
  return path === ''
    ? refused('\\i names no file')
    : { kind: 'include', path: isAbsolute(path) ? path : join(base, path) }
}

/** What only shapes output, guards against hostile dumps, or ends the rows of COPY, which is refused by itself. */
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

/** Words of a line of psql; quotes hold a word together. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'((?:[^']|'')*)'|(\S+)/g)].map(([, quoted, plain]) => quoted?.replaceAll("''", "'") ?? plain ?? '')

function meaningOfLine(line: string, file: string, source: ScriptSource): Meaning {
  const [command = '', ...words] = wordsOf(line)
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
      return refused(`${command} is a command of psql that has no meaning here`)
  }
}

/** Files that include each other for ever have no end. */
const deepest = 16

/**
 * The statements of a script as psql would send them, those of included files in their place (PostgreSQL manual, psql).
 * Rejects with MigrationFailure for what only psql can do, and with what `read` rejects with.
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
