import { withSession, type Query, type SessionCommand } from '../../runtime/db/connect/session.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { ownerRole } from '../../runtime/identity/project-keys.ts'
import { didYouMean } from '../../runtime/lib/text.ts'
import { afterMigration } from './advise/diff/migration.ts'
import { MigrationFailure } from './advise/diff/script.ts'
import {
  type Command,
  type GivenOptions,
  type Terminal,
  CommandFailure,
  exitCodes,
  misuse,
  textOption,
} from './command.ts'
import { readGiven, writeOut } from './given-documents.ts'
import { neededSettingsOf, ownerUrl } from './needed-settings.ts'
import { type TriedActor, findActors, usualActors } from './policies/actors.ts'
import { type JudgedAct, judgeActs, sentenceOfCell, statedCell } from './policies/cells.ts'
import {
  type Act,
  type RowsCell,
  type Expectations,
  type Section,
  acts,
  cellTexts,
  noRows,
  printExpectations,
  readExpectations,
} from './policies/expectations.ts'
import { findHoles, type PolicyHole } from './policies/holes.ts'
import {
  roleFactsOf,
  relationName,
  readDefiners,
  readRelations,
  type SecuredRelation,
} from './policies/secured-relations.ts'
import { type Trial, tryActs } from './policies/trial.ts'

export const policiesCommand: Command = {
  name: 'policies',
  summary: 'Print who may read and write what, and test it against a file.',
  description:
    'Without arguments, and as `matrix`, it prints which rows each actor may select, insert, update and delete, as a\n' +
    'Markdown file to review and keep. With FILE `matrix` takes actors, rows to try with and accepted holes from there.\n' +
    '`test FILE` compares the database with the file. It tries each act as the actor, in a transaction of\n' +
    'DATABASE_OWNER_URL that is rolled back. It also fails for holes that the file does not accept, such as a table\n' +
    'without row-level security.\n\n' +
    'Exit codes: 0 all is as written, 1 something is not, 2 wrong use.',
  takes: '[matrix [FILE] | test FILE]',
  words: ['matrix', 'test'],
  options: {
    out: { value: 'FILE', help: 'With matrix: write it to this file.' },
    json: { value: null, help: 'With test: print the result as JSON.' },
  },
  run: async (given, terminal, [act = 'matrix', file, ...rest]) => {
    if (act !== 'matrix' && act !== 'test')
      throw misuse(`policies has no subcommand ${act}${didYouMean(act, ['matrix', 'test'])}`)
    if (rest.length > 0) throw misuse(`policies ${act} takes one file`)
    if (act === 'test' && file === undefined) throw misuse('policies test takes the file of expectations')
    const expected = file === undefined ? null : readExpectations(file, readGiven(file, 'policies'))
    if (act === 'matrix') return printMatrix(expected, given, terminal)
    if (expected === null || given['out'] !== undefined) throw misuse('--out goes with matrix')
    return printTest(expected, file ?? '', given, terminal)
  },
}

async function printMatrix(expected: Expectations | null, given: GivenOptions, terminal: Terminal): Promise<number> {
  if (given['json'] === true) throw misuse('--json goes with test')
  const { rows, sections, holes, left } = await withTrial(expected, terminal, matrixOf)
  const { setupText = '', accepted = [] } = expected ?? {}
  const text = printExpectations({ actors: rows, setupText, sections, accepted })
  const out = textOption(given, 'out')
  if (out === null) terminal.print(text.trimEnd())
  else await writeOut(out, text)
  if (left.length > 0) terminal.note(`catalograph: without rows, so that nothing was tried: ${left.join(', ')}`)
  const open = unaccepted(holes, accepted)
  if (open.length > 0) terminal.note(`catalograph: ${open.length} holes; catalograph policies test FILE names them`)
  return exitCodes.done
}

async function printTest(
  expected: Expectations,
  file: string,
  given: GivenOptions,
  terminal: Terminal,
): Promise<number> {
  const verdict = await withTrial(expected, terminal, (session) => verdictOn(session, expected))
  const { differing, holes, untried, cells, stale } = verdict
  if (given['json'] === true) terminal.print(JSON.stringify(verdict, null, 2))
  else {
    for (const { relation, actor, judged } of differing) terminal.print(sentenceOfCell(relation, actor, judged))
    for (const { hole, on, says, fix } of holes) terminal.print(`${hole}: ${on}: ${says}\n  ${fix}`)
    if (holes.length > 0) terminal.print(`A hole that is meant gets a line in ${file}: | hole | on | reason |`)
    for (const { relation, actors, acts: missed } of untried)
      terminal.print(
        `${relation}: ${missed.join(', ')} could not be tried for ${actors.join(', ')}, for lack of rows: insert some in the SQL of ${file}`,
      )
    for (const { hole, on } of stale) terminal.note(`catalograph: ${file} accepts ${hole} on ${on}, which is not there`)
    terminal.print(`${cells.asWritten} of ${cells.all} acts are as written, ${cells.notTried} were not tried`)
  }
  return differing.length + holes.length === 0 ? exitCodes.done : exitCodes.failed
}

interface Session {
  readonly trial: Trial
  readonly rows: Expectations['actors']
  readonly actors: readonly TriedActor[]
  readonly relations: readonly SecuredRelation[]
  readonly holes: readonly PolicyHole[]
  readonly stage: Terminal['stage']
  readonly readerFor: (relation: SecuredRelation) => string
}

/** Opens the transaction, with the rows of the file, and rolls it back. Rejects with CommandFailure. */
async function withTrial<T>(
  expected: Expectations | null,
  terminal: Terminal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const settings = neededSettingsOf(terminal)
  const url = await ownerUrl(settings)
  const inTransaction = (query: Query, command: SessionCommand): Promise<T> =>
    afterMigration({ query, command }, expected?.setup ?? [], async ({ leftOut: [left] }) => {
      if (left !== undefined) throw new MigrationFailure(left, left.message)
      await query('set local lock_timeout = 3000; set local statement_timeout = 30000')
      return work({ ...(await sessionOf(query, settings.schemas, expected)), stage: terminal.stage })
    })
  try {
    return await withSession({ url, searchPath: null }, inTransaction)
  } catch (error) {
    if (!(error instanceof MigrationFailure)) throw error
    throw new CommandFailure(`${error.place.file}:${error.place.line}: ${reasonOf(error)}`)
  }
}

async function sessionOf(
  query: Query,
  schemas: readonly string[],
  expected: Expectations | null,
): Promise<Omit<Session, 'stage'>> {
  const rows = expected?.actors ?? (await usualActors(query))
  const callers = await callerRoles(
    query,
    rows.map(({ role }) => role),
  )
  const { login, readers } = await readersOf(
    query,
    rows.map(({ role }) => role),
  )
  const roles = [...new Set([...callers.map(({ name }) => name), ...rows.map(({ role }) => role), login])]
  // Before the connection's role joins them, which would change its rights.
  const relations = await readRelations(query, schemas, roles)
  const definers = await readDefiners(query, schemas, roles)
  const actors = await findActors(query, rows)
  const guests = actors.some(({ guest }) => guest)
  return {
    trial: { query, schemas },
    rows,
    actors,
    relations,
    holes: findHoles({ relations, definers, roles: callers, guests }),
    readerFor: (relation) => readerOf(relation, [login, ...readers]),
  }
}

const callersSql = `select rolname::text as name, rolsuper or rolbypassrls as bypasses from pg_catalog.pg_roles
  where rolname = any ($1) and rolname <> $2 order by 1`

const callerRoles = async (query: Query, roles: readonly string[]) =>
  (
    await query<{ readonly name: string; readonly bypasses: boolean }>(callersSql, [
      ['anon', 'authenticated', ...roles],
      ownerRole,
    ])
  ).rows

const readersSql = `select current_user::text as login, array(select rolname::text from pg_catalog.pg_roles
  where rolname = any ($1) and rolbypassrls) as readers`

async function readersOf(query: Query, roles: readonly string[]) {
  const { rows } = await query<{ readonly login: string; readonly readers: readonly string[] }>(readersSql, [roles])
  return rows[0] ?? { login: '', readers: [] }
}

/** A role that sees all rows. */
function readerOf(relation: SecuredRelation, roles: readonly string[]): string {
  const found = roles.find((role) => {
    const facts = roleFactsOf(relation, role)
    return facts?.usage === true && !facts.restricted && facts.columns.select.length === relation.columns.length
  })
  if (found !== undefined) return found
  throw new CommandFailure(
    `${relationName(relation)}: ${roles[0]} does not see all rows: set DATABASE_OWNER_URL to its owner, or name an actor whose role bypasses row-level security`,
  )
}

type Cells = Readonly<Record<Act, RowsCell>>

/** Acts that grants and policies allow, whatever the rows. */
const isOpenTo = (relation: SecuredRelation, { role }: TriedActor): boolean =>
  acts.some((act) => statedCell(relation, role, act).rows !== 'no')

interface JudgedActor {
  readonly actor: TriedActor
  readonly judged: readonly JudgedAct[]
  readonly rows: number
}

async function judge(
  { trial, readerFor, stage }: Session,
  relation: SecuredRelation,
  actor: TriedActor,
  cells: Cells | null,
): Promise<JudgedActor> {
  const written = acts.map((act) => cells?.[act] ?? statedCell(relation, actor.role, act))
  const conditions = written.flatMap(({ rows }) => (typeof rows === 'object' && 'sql' in rows ? [rows.sql] : []))
  const reader = readerFor(relation)
  stage(`Trying ${relationName(relation)} as ${actor.name}`)
  const tried = await tryActs(trial, relation, actor, { reader, conditions })
  return { actor, judged: await judgeActs(trial, relation, actor, tried, cells), rows: tried.rows.length }
}

/** Relations that any actor reaches; actors with the same cells share a line. */
async function matrixOf(session: Session) {
  const { actors, relations, rows, holes } = session
  const sections: Section[] = []
  const left: string[] = []
  for (const relation of relations.filter((one) => actors.some((actor) => isOpenTo(one, actor)))) {
    const lines = new Map<string, { actors: string[]; cells: Cells }>()
    let tried = 0
    for (const actor of actors) {
      const { judged, rows: count } = await judge(session, relation, actor, null)
      tried = Math.max(tried, count)
      const cells = Object.fromEntries(judged.map(({ act, present }) => [act, present])) as Cells
      const text = cellTexts(cells).join()
      const line = lines.get(text)
      if (line !== undefined) line.actors.push(actor.name)
      else lines.set(text, { actors: [actor.name], cells })
    }
    if (tried === 0) left.push(relationName(relation))
    sections.push({ relation: relationName(relation), line: 0, rows: [...lines.values()] })
  }
  return { rows, sections, holes, left }
}

async function verdictOn(session: Session, { sections, accepted }: Expectations) {
  const { actors, relations } = session
  const names = relations.map(relationName)
  for (const { relation } of sections)
    if (!names.includes(relation))
      throw new CommandFailure(
        `the served schemas have no ${relation}${didYouMean(relation, names)}`,
        exitCodes.misused,
      )
  const differing: { relation: string; actor: string; judged: JudgedAct }[] = []
  const untried: { relation: string; actors: string[]; acts: readonly Act[] }[] = []
  const unwritten: PolicyHole[] = []
  const cells = { all: 0, asWritten: 0, notTried: 0 }
  for (const relation of relations) {
    const on = relationName(relation)
    const lines = sections.filter((section) => section.relation === on).flatMap(({ rows }) => rows)
    const open = actors.filter((actor) => isOpenTo(relation, actor))
    if (lines.length === 0 && open.length > 0)
      unwritten.push({
        hole: 'unwritten',
        on,
        says: `the file has no table for it, and ${open.map(({ name }) => name).join(', ')} may do something`,
        fix: 'catalograph policies matrix FILE prints one',
      })
    if (lines.length === 0) continue
    for (const actor of actors) {
      const written = lines.find((line) => line.actors.includes(actor.name))?.cells ?? noCells
      const { judged } = await judge(session, relation, actor, written)
      const missed = judged.flatMap(({ act, verdict }) => (verdict === 'not-tried' ? [act] : []))
      differing.push(
        ...judged.flatMap((one) =>
          one.verdict === 'differs' ? [{ relation: on, actor: actor.name, judged: one }] : [],
        ),
      )
      cells.all += judged.length
      cells.notTried += missed.length
      cells.asWritten += judged.filter(({ verdict }) => verdict === 'as-written').length
      const last = untried.at(-1)
      if (missed.length === 0) continue
      if (last?.relation === on && last.acts.join() === missed.join()) last.actors.push(actor.name)
      else untried.push({ relation: on, actors: [actor.name], acts: missed })
    }
  }
  const holes = [...session.holes, ...unwritten]
  const stale = accepted.filter((line) => unaccepted(holes, [line]).length === holes.length)
  return {
    cells,
    differing,
    holes: unaccepted(holes, accepted),
    accepted: accepted.length - stale.length,
    stale,
    untried,
  }
}

const noCells = Object.fromEntries(acts.map((act) => [act, noRows])) as Cells

const unaccepted = (holes: readonly PolicyHole[], accepted: Expectations['accepted']): readonly PolicyHole[] =>
  holes.filter(({ hole, on }) => !accepted.some((line) => line.hole === hole && line.on === on))
