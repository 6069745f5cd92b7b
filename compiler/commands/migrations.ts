import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withSession, type SessionCommand } from '../../runtime/db/connect/session.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { isJsonObject, tryParseJson } from '../../runtime/lib/json.ts'
import { MigrationFailure, readScript } from './advise/diff/script.ts'
import { CommandFailure, misuse } from './command.ts'

/** Folders of migrations as their tools write them: dbmate, goose, sql-migrate, Drizzle, Prisma, Atlas, and plain SQL files. */

export interface MigrationFile {
  readonly file: string
  /** Only what leads forward; other lines are empty, so that lines keep their numbers. */
  readonly sql: string
  /** Whether its statements run in one transaction. */
  readonly together: boolean
}

/** The files in their order. Rejects with CommandFailure (exit code 2) if there is no such folder, or nothing in it. */
export async function readMigrations(folder: string): Promise<readonly MigrationFile[]> {
  const names = await readdir(folder).catch(() => {
    throw misuse(`${folder} is no folder that can be read; a folder of migrations is expected`)
  })
  const paths = drizzleFiles(folder, await drizzleJournal(folder)) ?? listedFiles(folder, names)
  if (paths.length === 0)
    throw misuse(`${folder} has no migrations: files NAME.sql, or folders with migration.sql, are expected`)
  return Promise.all(paths.map(async (file) => forward(file, await readFile(file, 'utf8').catch(() => missing(file)))))
}

const missing = (file: string): never => {
  throw misuse(`${file} cannot be read, and the journal of migrations names it`)
}

const drizzleJournal = (folder: string): Promise<string | null> =>
  readFile(join(folder, 'meta', '_journal.json'), 'utf8').catch(() => null)

/** Drizzle keeps the order in a journal, not in the names. */
function drizzleFiles(folder: string, journal: string | null): readonly string[] | null {
  const parsed = journal === null ? null : tryParseJson(journal)
  const entries = isJsonObject(parsed) ? parsed['entries'] : null
  if (!Array.isArray(entries)) return null
  return entries.flatMap((entry: unknown) =>
    isJsonObject(entry) && typeof entry['tag'] === 'string' ? [join(folder, `${entry['tag']}.sql`)] : [],
  )
}

/** Folders with migration.sql are those of Prisma, and of newer versions of Drizzle. Files `*.down.sql` lead back. */
const listedFiles = (folder: string, names: readonly string[]): readonly string[] =>
  names.toSorted().flatMap((name) => {
    const inner = join(folder, name, 'migration.sql')
    if (existsSync(inner)) return [inner]
    return name.endsWith('.sql') && !name.endsWith('.down.sql') ? [join(folder, name)] : []
  })

const marker = /^--\s*(?:migrate:|\+(?:goose|migrate)\s+)(up|down)\b/i
const apart =
  /^--\s*(?:migrate:up\b.*\btransaction:\s*false\b|atlas:txmode\s+none\b|\+goose\s+no\s+transaction\b|\+migrate\s+up\s+notransaction\b)/im

/** The part below `-- migrate:up` of dbmate, or `-- +goose Up`; the whole file where no line has such a marker. */
function forward(file: string, text: string): MigrationFile {
  const lines = text.split('\n')
  const together = !apart.test(text)
  if (!lines.some((line) => marker.test(line))) return { file, sql: text, together }
  let isUp = false
  const kept = lines.map((line) => {
    const found = marker.exec(line)
    if (found !== null) isUp = found[1]?.toLowerCase() === 'up'
    return isUp ? line : ''
  })
  return { file, sql: kept.join('\n'), together }
}

/** Runs the files one after the other. Rejects with CommandFailure, which names file and line of what failed. */
export async function applyMigrations(url: string, files: readonly MigrationFile[]): Promise<void> {
  await withSession({ url, searchPath: null }, async (query, command) => {
    const { rows } = await query<{ readonly name: string }>('select pg_catalog.current_database()::text as name')
    for (const file of files) {
      await applyFile(command, file, rows[0]?.name ?? '')
      // One file's settings, such as the search path of a dump, must not change the next.
      await query('reset all')
    }
  })
}

/** A single statement runs outside of a block, in which Postgres refuses some. */
async function applyFile(
  command: SessionCommand,
  { file, sql, together }: MigrationFile,
  database: string,
): Promise<void> {
  const read = (path: string): Promise<string> => (path === file ? Promise.resolve(sql) : readFile(path, 'utf8'))
  let line = 1
  try {
    const statements = await readScript(file, { read, database })
    const isBlock = together && statements.length > 1
    if (isBlock) await command('begin')
    for (const statement of statements) {
      line = statement.line
      await command(statement.text)
    }
    if (isBlock) await command('commit')
  } catch (error) {
    const place = error instanceof MigrationFailure ? error.place.line : line
    throw new CommandFailure(`${file}:${place}: ${reasonOf(error)}`)
  }
}
