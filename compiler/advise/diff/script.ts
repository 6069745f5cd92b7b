import { dirname, isAbsolute, join } from 'node:path'
import { splitSql, type SqlStatement } from './split-sql.ts'

/** A statement and its file. */
export interface ScriptStatement extends SqlStatement {
  readonly file: string
}

/** A position in a migration. */
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

export interface ScriptSource {
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

/** Words of a psql line; quotes hold a word together. */
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
