import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../service.ts'
import { initial, type Commit, type State, type Table } from './states.ts'

/** The state that all participants of a storm of schema changes share. */

export interface Storm {
  readonly until: number
  /** How old the answer to a read may be, in milliseconds. */
  readonly staleMs: number
  /** Codes of failures that say nothing about the schema. */
  readonly outages: ReadonlySet<string>
  /** The longest pause between changes of a table, in milliseconds. */
  readonly paceMs: number
  readonly tables: readonly Table[]
  /** Tables are spread over servers. */
  readonly distributed: boolean
  readonly commits: { count: number }
  readonly answers: { count: number }
  readonly problems: string[]
  readonly outcomes: Map<string, number>
}

/** Fewer answers than this show little. */
export const enough = 20
/** The additional time of a starved machine, in milliseconds. */
export const patience = 45_000

/** Answers between two changes of one changer: where a machine is starved, each request would meet a change otherwise. */
const answersBetween = 6

export const now = (): number => performance.now()
export const isOver = ({ until, outcomes }: Storm): boolean =>
  now() > until + patience || (now() > until && (outcomes.get('ok') ?? 0) > enough)
export const last = ({ commits }: Table): State => commits.at(-1)?.state ?? initial(0)

/** The commits whose states may have stood at some time since a moment. */
export function possibleSince({ commits }: Table, moment: number): readonly Commit[] {
  const past = commits.filter(({ done }) => done <= moment).length - 1
  return commits.slice(Math.max(past, 0)).filter(({ asked }) => asked <= now())
}

export async function rest(storm: Storm, ms: number): Promise<void> {
  const wanted = storm.answers.count + answersBetween
  await sleep(ms)
  while (storm.answers.count < wanted && !isOver(storm)) await sleep(10)
}

/** A query of a table. */
export interface Asked {
  readonly query: string
  readonly reads: boolean
  readonly name: string
  readonly fields: readonly string[]
  readonly rows: (data: Answer['data']) => readonly Row[]
}

export type Row = Readonly<Record<string, unknown>>

export function reading(name: string, fields: readonly string[]): Asked {
  const query = `{ rows: ${name}Collection(first: 20) { edges { node { ${fields.join(' ')} } } } }`
  const rows: Asked['rows'] = (data) => data.rows.edges.map(({ node }: { node: Row }) => node)
  return { query, reads: true, name, fields, rows }
}

/** @param valueOf a text column */
export function inserting(name: string, fields: readonly string[], valueOf: (field: string) => string): Asked {
  const values = fields.map((field) => `${field}: ${numberOf(field) ?? JSON.stringify(valueOf(field))}`).join(', ')
  const query = `mutation { rows: insertInto${name}Collection(objects: [{ ${values} }]) { records { ${fields.join(' ')} } } }`
  return { query, reads: false, name, fields, rows: (data) => data.rows.records }
}

/** The value of the column c_n in every row; null: it is a different column. */
export const numberOf = (field: string): number | null => (field.startsWith('c_') ? Number(field.slice(2)) : null)

/** The text in both columns of a row whose writer does not know which one is which. */
export const either = '?'

export const isEither = ({ x, y }: Row): boolean => x === either && y === either

/** Whether a table of this state has what is asked for. */
export const has = (state: State, { name, fields }: Asked): boolean =>
  state.exists &&
  state.name === name &&
  fields.every((field) => numberOf(field) === null || field.slice(2) in state.extra)

/** Counts what came of a request. @param by the kind of server */
export function countAnswer(storm: Storm, { errors }: Answer, by = ''): string {
  const code = errors?.[0]?.extensions.code ?? 'ok'
  storm.answers.count += 1
  storm.outcomes.set(by + code, (storm.outcomes.get(by + code) ?? 0) + 1)
  return code
}

/**
 * Whether the schema was changed.
 * @param before how many changes there were when a request was sent
 * @param states how many there may have been of its table since then
 */
export const isChanged = (storm: Storm, before: number, states: number): boolean =>
  storm.commits.count > before || states > 1
