import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { withSession, type Query } from '../../runtime/db/connect/session.ts'
import { loadRevision } from '../../runtime/engine/load.ts'
import { createCompiler, type Compiled } from '../compile.ts'
import { groupBy } from '../../runtime/lib/steps.ts'
import { compareApis, type SchemaState } from './advise/diff/compare.ts'
import { type GivenDocument, findFiles } from './advise/diff/document-changes.ts'
import { listedDocuments } from './advise/diff/setting-changes.ts'
import { afterMigration, type Applied, type HeldLock } from './advise/diff/migration.ts'
import { MigrationFailure, readScript, type ScriptStatement } from './advise/diff/script.ts'
import { readPolicies } from './advise/diff/privilege-changes.ts'
import { printComparison } from './advise/diff/print-diff.ts'
import { printDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import {
  type Command,
  type GivenOptions,
  type Terminal,
  CommandFailure,
  exitCodes,
  misuse,
  namesOption,
  textOption,
} from './command.ts'
import { documentOptions, namedDocuments, readGiven } from './given-documents.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'

export const diffCommand: Command = {
  name: 'diff',
  summary: 'Print what a migration changes in the API of each role.',
  description:
    'Compares the database of DATABASE_OWNER_URL, or DATABASE_URL (without either the embedded one), with the state\n' +
    'before, which --against names. With --migration the command runs the files in one transaction that is rolled back,\n' +
    'and compares the database after it; without --against the state before is the present database. Of the commands of\n' +
    'psql it knows those that a migration needs: \\i, \\ir, \\connect to the same database, \\set of variables of psql.\n' +
    'Until then it holds the locks of the migration, and waits for a lock at most three seconds. Documents are those that\n' +
    'must keep working; those of allow-lists are among them.\n\n' +
    'Exit codes: 0 nothing breaks, 1 something breaks, 2 wrong use, 3 no result (the migration fails, or no database\n' +
    'exists).',
  options: {
    against: { value: 'DIR|URL', help: 'A folder that `compile` wrote, or the URL of another database.' },
    migration: {
      value: 'FILES',
      help: 'SQL to apply and roll back: files or patterns, separated by commas, in their order.',
    },
    ...documentOptions,
    roles: { value: 'NAMES', help: 'Roles, separated by commas (default: anon,authenticated,service_role).' },
    json: { value: null, help: 'Print the comparison as JSON.' },
  },
  run: async (given, terminal) => {
    const request = await requestOf(given, terminal)
    try {
      return await compareStates(request, terminal)
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      throw new CommandFailure(migrationRefusal(error), noVerdict)
    }
  },
}

/** As with diff(1) and grep(1), a failure differs from a negative verdict. */
const noVerdict = 3

type DiffRequest = Awaited<ReturnType<typeof requestOf>>

const apiRoles = 'anon,authenticated,service_role'

async function requestOf(given: GivenOptions, terminal: Terminal) {
  const [against, migration] = [textOption(given, 'against'), textOption(given, 'migration')]
  if (against === null && migration === null) throw misuse('diff needs --against, --migration or both')
  const roles = namesOption(given, 'roles', apiRoles)
  const settings = neededSettingsOf(terminal)
  return {
    url: await ownerUrl(settings),
    schemas: settings.schemas,
    against,
    migration,
    documents: (await namedDocuments(given)) ?? [],
    roles,
    json: given['json'] === true,
  }
}

async function compareStates(request: DiffRequest, terminal: Terminal): Promise<number> {
  const stated = request.against === null ? null : await statedBy(request.against, request)
  terminal.stage('Compiling the present database')
  const { present, listed } = await presentState(request, terminal)
  terminal.stage('Applying the migration and compiling the database after it')
  const { after, leftOut, locks, ms } = await migrated(request, present)
  printNewDiagnostics(present.compiled, after.compiled, terminal)
  for (const { file, line, message } of leftOut) terminal.note(`${file}:${line}: not judged: ${message}`)
  if (locks.length > 0) terminal.note(printLocks(locks, ms))
  terminal.stage('Comparing the APIs')
  const comparison = compareApis(stated ?? present, after, request.roles, [...request.documents, ...listed])
  terminal.print(
    request.json
      ? JSON.stringify({ ...comparison, leftOut, locks, locksHeldMs: ms }, null, 2)
      : printComparison(comparison),
  )
  return comparison.breaking ? exitCodes.failed : exitCodes.done
}

interface Found extends SchemaState {
  readonly compiled: Compiled
}

async function stateOf(query: Query, { schemas, roles }: DiffRequest): Promise<Found> {
  const compiled = await createCompiler({ query, schemas, version: null }).compile()
  return { compiled, manifest: compiled.revision.manifest, policies: await readPolicies(query, roles, schemas) }
}

async function statedBy(against: string, request: DiffRequest): Promise<SchemaState> {
  if (/^postgres(?:ql)?:/.test(against)) return withSession({ url: against }, (query) => stateOf(query, request))
  return { manifest: (await loadRevision(against)).manifest, policies: null }
}

interface Present {
  readonly present: Found
  readonly listed: readonly GivenDocument[]
}

const presentState = (request: DiffRequest, terminal: Terminal): Promise<Present> =>
  withSession({ url: request.url }, async (query) => {
    const present = await stateOf(query, request)
    const listed = await listedDocuments(query, present.manifest).catch((error: unknown) => {
      terminal.note(`the allow-list cannot be read, so its documents are not judged: ${reasonOf(error)}`)
      return []
    })
    return { present, listed }
  })

interface Migrated extends Applied {
  readonly after: Found
  readonly ms: number
}

/** The database after the migration, which is rolled back; the present state without a migration. */
async function migrated(request: DiffRequest, present: Found): Promise<Migrated> {
  if (request.migration === null) return { after: present, leftOut: [], locks: [], ms: 0 }
  const { migration } = request
  return withSession({ url: request.url, searchPath: null }, async (query, command) => {
    const script = await readMigration(migration, query)
    const started = performance.now()
    const found = await afterMigration({ query, command }, script, async (applied) => ({
      ...applied,
      after: await stateOf(query, request),
    }))
    return { ...found, ms: Math.round(performance.now() - started) }
  })
}

async function readMigration(patterns: string, query: Query): Promise<readonly ScriptStatement[]> {
  const { rows } = await query<{ readonly name: string }>('select pg_catalog.current_database()::text as name')
  const source = { read: async (path: string) => readGiven(path, '--migration'), database: rows[0]?.name ?? '' }
  const statements: ScriptStatement[] = []
  for (const pattern of patterns.split(',')) {
    const files = await findFiles(pattern.trim()).catch(() => [])
    if (files.length === 0) throw misuse(`--migration ${pattern.trim()} names no file`)
    for (const file of files) statements.push(...(await readScript(file, source)))
  }
  return statements
}

/** One line for each kind of lock. */
const printLocks = (locks: readonly HeldLock[], ms: number): string =>
  [...groupBy(locks, ({ mode }) => mode)]
    .map(([mode, held]) => `held for ${ms} ms: ${mode} on ${held.map(({ relation }) => relation).join(', ')}`)
    .join('\n')

/** The compiler's diagnostics of the state after that the one before does not have. */
function printNewDiagnostics(before: Compiled, after: Compiled, terminal: Terminal): void {
  const known = new Set(before.diagnostics.map((diagnostic) => printDiagnostics([diagnostic])))
  const fresh = after.diagnostics.filter((diagnostic) => !known.has(printDiagnostics([diagnostic])))
  const text = printDiagnostics(fresh.filter(({ severity }) => severity !== 'info')).trimEnd()
  if (text !== '') terminal.note(text)
}

function migrationRefusal(error: unknown): string {
  if (error instanceof MigrationFailure) return `${error.place.file}:${error.place.line}: ${error.message}`
  return reasonOf(error)
}
