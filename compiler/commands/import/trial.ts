import { createDocument } from '../../../runtime/graphql/prepared/document.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { bind } from '../../../runtime/graphql/run/bind.ts'
import { toResponse } from '../../../runtime/graphql/run/response.ts'
import { bodyBytes } from '../../../runtime/http/bodies.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { isAway, DatabaseFailure, reasonOf } from '../../../runtime/db/failures/failures.ts'
import { inTransactionBlock, withSession, type Query } from '../../../runtime/db/connect/session.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { createEngine } from '../../additions/engine.ts'
import { createCompiler, type Compiled } from '../../compile.ts'
import { afterMigration } from '../advise/diff/migration.ts'
import { MigrationFailure, splitSql } from '../advise/diff/script.ts'
import { CommandFailure } from '../command.ts'
import { differenceOf, comparedRows, type ComparedDocument, type RowDifference, type Rows } from './comparison.ts'
import type { ImportedStatement } from './imported.ts'

/** A caller here, whose documents an old server has answered or is to askHere. */
export interface Asking {
  /** For messages. */
  readonly name: string
  readonly role: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly documents: readonly ComparedDocument[]
  readonly before: (document: ComparedDocument) => Promise<Rows>
}

export interface ImportTrial {
  readonly compiled: Compiled
  readonly differences: readonly RowDifference[]
  readonly documents: number
}

const firstLine = (sql: string): string => sql.trimStart().split('\n')[0]?.slice(0, 160) ?? ''

/** Names the statement, and so its object. */
const statementFailure = (statements: readonly ImportedStatement[], error: unknown): unknown =>
  error instanceof MigrationFailure
    ? new CommandFailure(`${firstLine(statements[error.place.line - 1]?.sql ?? '')}: ${error.message}`)
    : error

/**
 * Runs the statements in a transaction that is rolled back, compiles the database within it and compares the answers.
 * Rejects with CommandFailure that names the statement at fault, or with DatabaseFailure.
 */
export async function tryStatements(
  url: string,
  schemas: readonly string[],
  statements: readonly ImportedStatement[],
  asking: readonly Asking[],
): Promise<ImportTrial> {
  const script = statements.map(({ sql }, index) => ({
    file: 'statement',
    line: index + 1,
    text: sql,
    head: splitSql(sql)[0]?.head ?? [],
  }))
  return withSession({ url, searchPath: null }, async (query, command) => {
    try {
      return await afterMigration({ query, command }, script, async () => {
        const compiled = await createCompiler({ query, schemas, version: null }).compile()
        const engine = createEngine(compiled.revision)
        const differences: RowDifference[] = []
        for (const one of asking) differences.push(...(await compareCaller(query, engine, schemas, one)))
        return { compiled, differences, documents: asking.reduce((sum, { documents }) => sum + documents.length, 0) }
      })
    } catch (error) {
      throw statementFailure(statements, error)
    }
  })
}

async function compareCaller(
  query: Query,
  engine: Engine,
  schemas: readonly string[],
  asking: Asking,
): Promise<readonly RowDifference[]> {
  const differences: RowDifference[] = []
  for (const document of asking.documents) {
    const before = await asking.before(document)
    const after = await asCaller(query, schemas, asking, () => askHere(query, engine, asking.role, document))
    const difference = differenceOf(before, after)
    if (difference !== null) differences.push({ role: asking.name, document: document.name, difference })
  }
  return differences
}

/** As the request of a caller; nothing that it sets or writes stays. */
export async function asCaller(
  query: Query,
  schemas: readonly string[],
  { role, claims }: Pick<Asking, 'role' | 'claims'>,
  ask: () => Promise<unknown>,
): Promise<Rows> {
  await query('savepoint catalograph_caller')
  try {
    await becomeMember(query, role)
    await query(`set local role ${ident(role)}`)
    await query(`set local search_path = ${schemas.map(ident).join(', ')}`)
    await query(`select pg_catalog.set_config('request.jwt.claims', $1, true)`, [JSON.stringify({ role, ...claims })])
    return comparedRows(await ask())
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.errors.map(({ message }) => message).join(' ') }
    if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
    return { refused: reasonOf(error) }
  } finally {
    await query('rollback to savepoint catalograph_caller')
  }
}

/** The creator of a role administers it, and may become it only after a grant (manual, CREATE ROLE). */
async function becomeMember(query: Query, role: string): Promise<void> {
  await query('savepoint catalograph_member')
  await query(`grant ${ident(role)} to current_user`).catch(() => query('rollback to savepoint catalograph_member'))
}

/** One variant of variables each. */
const nothingKept = { get: () => undefined, set: () => undefined }

export async function rowsOfSql(query: Query, sql: string): Promise<readonly unknown[]> {
  const { rows } = await query<{ readonly row: unknown }>(
    `select pg_catalog.to_jsonb(compared) as row from (${sql}) compared`,
  )
  return rows.map(({ row }) => row)
}

async function askHere(
  query: Query,
  engine: Engine,
  role: string,
  { graphql, sql, variables }: ComparedDocument,
): Promise<unknown> {
  if (graphql === null) return rowsOfSql(query, sql ?? '')
  const prepared = createDocument(engine, role, graphql, null, nothingKept, 'patient').prepare(variables)
  const rows: (string | null)[][] = []
  for (const statement of prepared.statements.statements) {
    const { text, values } = bind(statement, prepared.variables)
    const found = await query<Record<string, unknown>>(text, values)
    rows.push(Object.values(found.rows[0] ?? {}).map(cellOf))
  }
  const { body } = toResponse(prepared.statements, rows)
  return JSON.parse(bodyBytes(body).toString()) as unknown
}

/** The driver parses JSON. */
const cellOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** All of them in one transaction. Rejects with CommandFailure that names the statement at fault. */
export const applyStatements = (url: string, statements: readonly ImportedStatement[]): Promise<void> =>
  withSession({ url, searchPath: null }, (query, command) =>
    inTransactionBlock(query, async () => {
      for (const { sql } of statements) {
        await command(sql).catch((error: unknown) => {
          throw new CommandFailure(`${firstLine(sql)}: ${reasonOf(error)}`)
        })
      }
    }),
  )
