import { conditionOf, reachOf, type RowCommand } from '../../../runtime/console/admin/reach.ts'
import type { TriedActor } from './actors.ts'
import { type Act, type RowsCell, acts, noRows, printCell } from './expectations.ts'
import { roleFactsOf, policyPrivileges, type SecuredRelation, writableIn } from './secured-relations.ts'
import { changedRowOf, meeting, newRows, type Reached, type Trial, type Tried } from './trial.ts'

/** The cells of the matrix: what grants and policies say, and whether the acts agree. */

/** Without the brackets around all of it, on one line. */
function unwrapped(sql: string): string {
  const line = sql
    .replace(/\s*\n\s*/g, ' ')
    .replace(/\( SELECT ([\w.]+\(\)) AS \w+\)/g, '(select $1)')
    .trim()
  return isWrapped(line) ? unwrapped(line.slice(1, -1)) : line
}

/** Whether its first bracket closes with its last character. Quoted brackets are rare, and only cost a pair of brackets. */
function isWrapped(text: string): boolean {
  let depth = 0
  for (const [index, character] of [...text].entries()) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0
    if (depth === 0) return text.startsWith('(') && index === [...text].length - 1
  }
  return false
}

const bothHold = (one: string, other: string): string =>
  one === other || other === 'true' ? one : one === 'true' ? other : `(${one}) and (${other})`

/** The condition of grants and policies for an act: first the policies of the act alone, and then with those of SELECT. */
function statedCells(relation: SecuredRelation, role: string, act: Act): readonly RowsCell[] {
  const facts = roleFactsOf(relation, role)
  if (facts === undefined) return []
  const privileges = policyPrivileges(relation, facts)
  const command = act === 'update to' ? 'update' : act
  const isOpen = (one: RowCommand): boolean => !['no-grant', 'no-policy'].includes(reachOf(privileges, one).kind)
  // A row must be found before it is changed, and a changed one must still be found.
  if (!isOpen(command) || (act !== 'insert' && !isOpen('select'))) return []
  const columns = limitedTo(relation, role, act)
  if (!facts.restricted) return [{ rows: 'all', columns }]
  const condition = (of: RowCommand, rows: 'old' | 'new'): string =>
    unwrapped(conditionOf(privileges.policies, of, rows) ?? 'false')
  const own = condition(command, act === 'insert' || act === 'update to' ? 'new' : 'old')
  const whole = act === 'insert' ? own : bothHold(condition('select', 'old'), own)
  return [...new Set([own, whole])].map((sql) => ({ rows: sql === 'true' ? 'all' : { sql }, columns }))
}

export const statedCell = (relation: SecuredRelation, role: string, act: Act): RowsCell =>
  statedCells(relation, role, act).at(-1) ?? noRows

function limitedTo(relation: SecuredRelation, role: string, act: Act): readonly string[] | null {
  const facts = roleFactsOf(relation, role)
  if (facts === undefined || act === 'delete' || act === 'update to') return null
  const all = relation.columns.filter(({ generated }) => act === 'select' || !generated)
  const some = act === 'select' ? facts.columns.select : writableIn(relation, facts, act)
  return some.length === all.length ? null : some
}

export interface JudgedAct {
  readonly act: Act
  readonly written: RowsCell
  /** The rows that are allowed, in the format of the file. */
  readonly present: RowsCell
  readonly verdict: 'as-written' | 'differs' | 'not-tried'
  /** For people, where it differs; rows by their keys. */
  readonly difference: string
}

/** Compares the acts with the cells of an actor. Without cells it judges what grants and policies say. */
export async function judgeActs(
  trial: Trial,
  relation: SecuredRelation,
  actor: TriedActor,
  tried: Tried,
  cells: Readonly<Record<Act, RowsCell>> | null,
): Promise<readonly JudgedAct[]> {
  const judged: JudgedAct[] = []
  for (const act of acts) {
    const stated = statedCells(relation, actor.role, act)
    const expected = (cell: RowsCell): Promise<Reached> => expectedRows(trial, relation, actor, { tried, act, cell })
    const present = await presentCell(stated, tried, act, expected)
    const written = cells?.[act] ?? present
    const comparing = { written, stated: stated.at(-1) ?? noRows, tried, act, expected }
    judged.push({ act, written, present, ...(await verdictOf(comparing)) })
  }
  return judged
}

type Expected = (cell: RowsCell) => Promise<Reached>

/** The first that agrees with the acts, else the number of rows. */
async function presentCell(stated: readonly RowsCell[], tried: Tried, act: Act, expected: Expected): Promise<RowsCell> {
  const last = stated.at(-1) ?? noRows
  if (isUntried(tried, act)) return tried.rows.length === 0 ? last : (stated[0] ?? noRows)
  const places = reachedPlaces(tried.reached[act])
  for (const cell of stated) {
    const meant = await expected(cell)
    if ('places' in meant && isSame(meant.places, places)) return cell
  }
  return places.size === 0 ? noRows : { rows: { count: places.size }, columns: last.columns }
}

/** New values are tried on a row that the actor may update. */
const isUntried = ({ rows, reached }: Tried, act: Act): boolean =>
  rows.length === 0 || (act === 'update to' && 'places' in reached.update && reached.update.places.size === 0)

const reachedPlaces = (reached: Reached): ReadonlySet<number> => ('places' in reached ? reached.places : new Set())

const isSame = (one: ReadonlySet<number>, other: ReadonlySet<number>): boolean =>
  one.size === other.size && [...one].every((place) => other.has(place))

interface Expecting {
  readonly tried: Tried
  readonly act: Act
  readonly cell: RowsCell
}

async function expectedRows(
  trial: Trial,
  relation: SecuredRelation,
  actor: TriedActor,
  { tried: { rows, reached }, act, cell }: Expecting,
): Promise<Reached> {
  if (cell.rows === 'no') return { places: new Set() }
  if (cell.rows === 'all') return { places: new Set(rows.keys()) }
  if ('count' in cell.rows) return { refusal: 'a number of rows names none' }
  const { sql } = cell.rows
  const writes = act === 'insert' ? 'insert' : act === 'update to' ? 'update' : null
  const from = act === 'update to' ? changedRowOf({ rows }, reached.update) : null
  const texts =
    writes === null ? rows.map(({ row }) => row) : await newRows(trial, relation, actor, { rows, from, act: writes })
  return meeting(trial, relation, actor, { rows: texts, sql })
}

interface Comparing {
  readonly written: RowsCell
  readonly stated: RowsCell
  readonly tried: Tried
  readonly act: Act
  readonly expected: Expected
}

async function verdictOf(comparing: Comparing): Promise<Pick<JudgedAct, 'verdict' | 'difference'>> {
  const { written, stated, tried, act } = comparing
  const differs = (difference: string) => ({ verdict: 'differs', difference }) as const
  const fine = { verdict: 'as-written', difference: '' } as const
  if (written.rows !== 'no' && stated.rows === 'no') return differs(`it may not: ${whyRefused(tried, act)}`)
  if (written.rows !== 'no' && columnList(written) !== columnList(stated))
    return differs(`it is limited to ${columnList(stated)}`)
  if (isUntried(tried, act)) return stated.rows === 'no' ? fine : { verdict: 'not-tried', difference: '' }
  const places = reachedPlaces(tried.reached[act])
  if (typeof written.rows === 'object' && 'count' in written.rows)
    return places.size === written.rows.count
      ? fine
      : differs(`it may with ${places.size} of ${tried.rows.length} rows`)
  const meant = await comparing.expected(written)
  if ('refusal' in meant) return differs(`the condition fails: ${meant.refusal}`)
  if (isSame(meant.places, places)) return fine
  const keys = (some: ReadonlySet<number>, without: ReadonlySet<number>): string =>
    listKeys(tried.rows.flatMap(({ key }, place) => (some.has(place) && !without.has(place) ? [key] : [])))
  const [more, fewer] = [keys(places, meant.places), keys(meant.places, places)]
  const parts = [
    more === '' ? '' : `it also may with ${more}`,
    fewer === ''
      ? ''
      : `it may not with ${fewer}${'refusal' in tried.reached[act] ? `: ${whyRefused(tried, act)}` : ''}`,
  ]
  return differs(parts.filter((part) => part !== '').join('; '))
}

const columnList = ({ columns }: RowsCell): string =>
  columns === null ? 'all columns' : [...columns].sort().join(', ')

function whyRefused({ reached }: Tried, act: Act): string {
  const attempt = reached[act]
  return 'refusal' in attempt ? attempt.refusal : 'grants and policies allow no row'
}

const mostKeys = 5

const listKeys = (keys: readonly string[]): string =>
  keys.length <= mostKeys ? keys.join(' ') : `${keys.slice(0, mostKeys).join(' ')} and ${keys.length - mostKeys} more`

/** The sentence of a cell that differs. */
export const sentenceOfCell = (relation: string, actor: string, { act, written, difference }: JudgedAct): string =>
  `${relation}: ${actor}, ${act}: ${printCell(written)} is written, but ${difference}`
