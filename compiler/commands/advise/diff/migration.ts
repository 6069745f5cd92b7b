import type { EntityFacts, EnumFacts, FunctionFacts, RelationFacts } from '../../../../runtime/contract/manifest.ts'
import { relationsBut } from '../../../../runtime/engine/related.ts'
import type { RoleView } from '../../../../runtime/engine/schema/schema.ts'
import { nameObject } from '../../../catalog/catalog.ts'
import type { ApiChange } from './change.ts'
import { DatabaseFailure, isAway } from '../../../../runtime/db/failures/failures.ts'
import type { SessionCommand, Query } from '../../../../runtime/db/connect/session.ts'
import { MigrationFailure, type ScriptPlace, type ScriptStatement, type SqlStatement } from './script.ts'

/**
 * Names that denote another object afterwards: a client gets another answer without any error. If the former object is
 * gone and the present one is new, it was renamed or replaced, and nothing is reported.
 */
export const movedNames = (before: RoleView, after: RoleView): readonly ApiChange[] => [
  ...movedTypes(before, after),
  ...movedFields(before, after),
  ...movedFunctions(before, after),
  ...movedValues(before, after),
]

const moved = (description: string): readonly ApiChange[] => [
  { severity: 'dangerous', kind: 'NAME_MOVED', description },
]

const entityName = ({ kind, schema, relation }: EntityFacts): string => nameObject(kind, schema, relation)

function movedTypes({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  return after.exposed.flatMap((now) => {
    const old = before.exposed.find(({ name }) => name === now.name)
    if (old === undefined || old.id === now.id) return []
    const isMoved = after.entity(old.id) !== undefined || before.entity(now.id) !== undefined
    return isMoved ? moved(`${now.name} is ${entityName(now)} now, no longer ${entityName(old)}.`) : []
  })
}

/** The object of a field; its text is unique in its type. */
type Objects = ReadonlyMap<string, string>

const columnText = (column: string): string => nameObject('column', column)

const relationText = ({ target, local, foreign }: RelationFacts): string =>
  `the relation ${local.join(', ')} -> ${nameObject('', ...(JSON.parse(target) as readonly string[])).trim()} (${foreign.join(', ')})`

const functionText = ({ schema, function: name }: FunctionFacts): string => nameObject('function', schema, name)

/** The object of each field for a role: the last of columns, relations and computed fields. */
const holders = ({ visible }: RoleView, entity: EntityFacts): Objects =>
  new Map([
    ...entity.columns.flatMap((column): (readonly [string, string])[] =>
      column.field !== null && visible.seesColumn(entity, column) ? [[column.field, columnText(column.column)]] : [],
    ),
    ...[...relationsBut(visible, entity, [])].map(([field, { relation }]): readonly [string, string] => [
      field,
      relationText(relation),
    ]),
    ...entity.computed.flatMap((fn): (readonly [string, string])[] =>
      visible.seesComputed(entity, fn) ? [[fn.field, functionText(fn)]] : [],
    ),
  ])

/** Every object, regardless of privileges. */
const objectsOf = ({ columns, relations, computed }: EntityFacts): ReadonlySet<string> =>
  new Set([
    ...columns.map(({ column }) => columnText(column)),
    ...relations.map(relationText),
    ...computed.map(functionText),
  ])

function movedFields(before: RoleView, after: RoleView): readonly ApiChange[] {
  return after.visible.exposed.flatMap((now) => {
    const old = before.visible.exposed.find(({ id, name }) => id === now.id && name === now.name)
    if (old === undefined) return []
    const [had, was, is] = [holders(before, old), objectsOf(old), objectsOf(now)]
    return [...holders(after, now)].flatMap(([field, object]) => {
      const former = had.get(field)
      if (former === undefined || former === object || !(is.has(former) || was.has(object))) return []
      return moved(`${now.name}.${field} is ${object} now, no longer ${former}.`)
    })
  })
}

function movedFunctions({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  const known = new Set(before.manifest.functions.map(({ id }) => id))
  const present = new Set(after.manifest.functions.map(({ id }) => id))
  return after.manifest.functions.filter(after.seesFunction).flatMap((now) => {
    const old = before.manifest.functions.find(
      (fn) => fn.field === now.field && fn.volatile === now.volatile && before.seesFunction(fn),
    )
    if (old === undefined || old.id === now.id || !(present.has(old.id) || known.has(now.id))) return []
    const root = now.volatile ? 'Mutation' : 'Query'
    return moved(`${root}.${now.field} is ${functionText(now)} now, no longer ${functionText(old)}.`)
  })
}

const labelsOf = ({ values }: EnumFacts): ReadonlyMap<string, string> =>
  new Map(values.map(({ name, label }) => [name, label]))

function movedValues({ visible: before }: RoleView, { visible: after }: RoleView): readonly ApiChange[] {
  return after.manifest.enums.flatMap((now) => {
    const old = before.manifest.enums.find(({ id, name }) => id === now.id && name === now.name)
    if (old === undefined || !after.names.ownsEnum(now) || !after.can(now.usage)) return []
    const had = labelsOf(old)
    const [was, is] = [new Set(had.values()), new Set(labelsOf(now).values())]
    return now.values.flatMap(({ name, label }) => {
      const former = had.get(name)
      if (former === undefined || former === label || !(is.has(former) || was.has(label))) return []
      return moved(`${now.name}.${name} is the label '${label}' now, no longer '${former}'.`)
    })
  })
}

/** An omitted statement, which Postgres cannot run in a transaction. */
interface LeftOut extends ScriptPlace {
  readonly message: string
}

/** A lock on a relation that existed before, for which other transactions wait. */
export interface HeldLock {
  /** In the terms of the manual, chapter Explicit Locking: ACCESS EXCLUSIVE, SHARE, ... */
  readonly mode: string
  readonly relation: string
}

export interface Applied {
  readonly leftOut: readonly LeftOut[]
  readonly locks: readonly HeldLock[]
}

/** The lock timeout in milliseconds: later transactions wait behind a waiting one. */
const lockTimeoutMs = 3_000

/**
 * Runs `work` in the transaction of the applied migration, and rolls everything back. Rejects with MigrationFailure,
 * with DatabaseFailure, or with the error of `work`; nothing is kept then either.
 */
export async function afterMigration<T>(
  { query, command }: { readonly query: Query; readonly command: SessionCommand },
  script: readonly ScriptStatement[],
  work: (applied: Applied) => Promise<T>,
): Promise<T> {
  const statements = withoutFrame(script)
  await query('begin')
  try {
    const known = await knownRelations(query)
    const leftOut = await applyAll(query, command, statements)
    // A migration may have changed the role and settings, and its own objects must not shadow the catalogue.
    await query('reset session authorization')
    await query('set local role none')
    await query('reset all')
    await query('set local search_path = pg_catalog, pg_temp')
    return await work({ leftOut, locks: await heldLocks(query, known) })
  } finally {
    await query('rollback').catch(() => undefined)
  }
}

const knownRelations = async (query: Query): Promise<readonly string[]> =>
  (await query<{ oid: string }>('select oid::text from pg_catalog.pg_class')).rows.map(({ oid }) => oid)

/** Locks that block others from reading or writing rows: from SHARE UPDATE EXCLUSIVE up. */
const heldSql = `select l.relation::pg_catalog.regclass::text as relation,
    pg_catalog.btrim(pg_catalog.upper(pg_catalog.regexp_replace(pg_catalog.regexp_replace(l.mode, 'Lock$', ''), '([A-Z])', ' \\1', 'g'))) as mode
  from pg_catalog.pg_locks l join pg_catalog.pg_class c on c.oid = l.relation
  where l.pid = pg_catalog.pg_backend_pid() and l.granted and c.relkind in ('r', 'p', 'm', 'v', 'f')
    and c.oid = any ($1::oid[]) and c.oid >= 16384
    and l.mode in ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  order by 1, 2`

const heldLocks = async (query: Query, known: readonly string[]): Promise<readonly HeldLock[]> =>
  (await query<HeldLock>(heldSql, [known])).rows

const begins = /^(?:BEGIN|START TRANSACTION|COMMIT(?! PREPARED)|END)\b/
const leaves = /^(?:ABORT|PREPARE TRANSACTION|COMMIT PREPARED|ROLLBACK(?! (?:(?:WORK|TRANSACTION) )?TO\b))\b/
const savepointCommands = /^(?:SAVEPOINT|RELEASE|ROLLBACK)\b/
const copiesIn = /^COPY\b.* FROM STDIN\b/

const starts = ({ head }: SqlStatement, words: RegExp): boolean => words.test(head.join(' '))

/** Files often contain `begin` and `commit`: everything is one transaction here. */
export function withoutFrame(statements: readonly ScriptStatement[]): readonly ScriptStatement[] {
  for (const statement of statements) {
    const problem = whyNoMigration(statement)
    if (problem !== null) throw new MigrationFailure(statement, problem)
  }
  return statements.filter((statement) => !starts(statement, begins))
}

/** Why a statement cannot be tried, or null; Postgres reports all other faults. */
function whyNoMigration(statement: SqlStatement): string | null {
  const words = statement.head.join(' ')
  if (starts(statement, leaves)) return `${words} would end the transaction in which the migration is tried`
  return starts(statement, copiesIn) ? `${words} takes rows from psql, and a file has none to give: use INSERT` : null
}

/**
 * Errors that only occur within a transaction: active_sql_transaction and, for a label that it added to an enum,
 * unsafe_new_enum_value_usage (PostgreSQL manual, appendix A).
 */
const onlyOutside: ReadonlySet<string | null> = new Set(['25001', '55P04'])

async function applyAll(
  query: Query,
  command: SessionCommand,
  statements: readonly ScriptStatement[],
): Promise<readonly LeftOut[]> {
  const leftOut: LeftOut[] = []
  for (const statement of statements) {
    const { file, line, text } = statement
    try {
      // Its own savepoints must outlive ours.
      await (starts(statement, savepointCommands) ? command(text) : inSavepoint(query, () => command(text)))
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
      if (!onlyOutside.has(error.sqlstate)) throw new MigrationFailure(statement, error.message)
      leftOut.push({ file, line, message: error.message })
    }
  }
  return leftOut
}

/** A failure rolls back to the savepoint. Files may set the lock timeout as well: dumps disable it. */
async function inSavepoint(query: Query, work: () => Promise<void>): Promise<void> {
  await query(`set local lock_timeout = ${lockTimeoutMs}`)
  await query('savepoint catalograph_statement')
  try {
    await work()
  } catch (error) {
    await query('rollback to savepoint catalograph_statement')
    throw error
  }
  await query('release savepoint catalograph_statement')
}
