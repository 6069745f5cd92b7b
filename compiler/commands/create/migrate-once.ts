import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { withSession, inTransactionBlock, type Query } from '../../../runtime/db/connect/session.ts'
import { DatabaseFailure, isAway } from '../../../runtime/db/failures/failures.ts'
import { withoutFrame } from '../advise/diff/migration.ts'
import { MigrationFailure, readScript, type ScriptStatement } from '../advise/diff/script.ts'
import { CommandFailure } from '../command.ts'
import { readMigrations, type MigrationFile } from '../migrations.ts'

/** Migrations of an application in development: each is applied once, in one transaction, and recorded. */

interface Migration extends MigrationFile {
  /** The path within the folder. */
  readonly name: string
  readonly statements: readonly ScriptStatement[]
  readonly digest: string
}

/** Reads a folder. Rejects with CommandFailure: it has none, or one that cannot be applied in one transaction. */
export async function loadMigrations(folder: string): Promise<readonly Migration[]> {
  const files = await readMigrations(folder)
  return Promise.all(
    files.map(async (migration) => ({
      ...migration,
      name: relative(folder, migration.file),
      statements: await statementsOf(migration),
      digest: createHash('sha256').update(migration.sql).digest('hex'),
    })),
  )
}

async function statementsOf({ file, sql, together }: MigrationFile): Promise<readonly ScriptStatement[]> {
  const read = (path: string): Promise<string> => (path === file ? Promise.resolve(sql) : readFile(path, 'utf8'))
  try {
    if (!together) throw new MigrationFailure({ file, line: 1 }, 'each migration is one transaction here')
    return withoutFrame(await readScript(file, { read, database: '' }))
  } catch (error) {
    throw error instanceof MigrationFailure ? failureAt(error) : error
  }
}

const failureAt = ({ place, message }: MigrationFailure): CommandFailure =>
  new CommandFailure(`${place.file}:${place.line}: ${message}`)

const begun = `do $$ begin
  if to_regclass('catalograph_migrations.applied') is not null then return; end if;
  if to_regclass('public.schema_migrations') is not null then raise 'schema_migrations'; end if;
  create schema catalograph_migrations;
  create table catalograph_migrations.applied (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now()
  );
end $$`

/** One process at a time: others wait, and find the files applied. */
const lock = "select pg_advisory_xact_lock(hashtextextended('catalograph_migrations', 0))"

/**
 * Applies the migrations that a database does not have yet, and returns their names. Rejects with CommandFailure, and
 * applies nothing, when one was changed after it was applied or another tool keeps the migrations of the database; a
 * failing one is rolled back, and those before it stay.
 */
export async function applyOnce(url: string, migrations: readonly Migration[]): Promise<readonly string[]> {
  const known = await knownMigrations(url)
  const changed = migrations.find(({ name, digest }) => known.has(name) && known.get(name) !== digest)
  if (changed !== undefined)
    throw new CommandFailure(
      `${changed.file} was changed after it was applied: restore it and write a new file with the change, ` +
        'or begin with a new database',
    )
  const applied: string[] = []
  for (const migration of migrations)
    if (!known.has(migration.name) && (await applyOne(url, migration))) applied.push(migration.name)
  return applied
}

async function knownMigrations(url: string): Promise<ReadonlyMap<string, string>> {
  return withSession({ url }, async (query) => {
    await inTransactionBlock(query, async () => {
      await query(lock)
      await query(begun)
    }).catch((error: unknown) => {
      if (!(error instanceof DatabaseFailure) || error.message !== 'schema_migrations') throw error
      throw new CommandFailure(
        'public.schema_migrations has the migrations of this database: apply them with the tool that made it, and use catalograph serve',
      )
    })
    const { rows } = await query<{ name: string; sha256: string }>(
      'select name, sha256 from catalograph_migrations.applied',
    )
    return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
  })
}

/** In a session of its own, since a file may change settings; false: another process has applied it. */
const applyOne = (url: string, { name, statements, digest }: Migration): Promise<boolean> =>
  withSession({ url, searchPath: null }, async (query, command) =>
    inTransactionBlock(query, async () => {
      await query(lock)
      if (!(await isRecorded(query, name, digest))) return false
      for (const statement of statements) {
        await command(statement.text).catch((error: unknown) => {
          if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
          throw failureAt(new MigrationFailure(statement, error.message))
        })
      }
      return true
    }),
  )

const isRecorded = async (query: Query, name: string, digest: string): Promise<boolean> =>
  (
    await query(
      'insert into catalograph_migrations.applied (name, sha256) values ($1, $2) on conflict do nothing returning name',
      [name, digest],
    )
  ).rows.length > 0
