import type { Query } from '../../../runtime/db/connect/session.ts'
import { DatabaseFailure, isAway } from '../../../runtime/db/failures/failures.ts'
import { reachOf } from '../../../runtime/console/admin/reach.ts'
import { ident, qualified } from '../../../runtime/sql/ident.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import { become, undone, type TriedActor } from './actors.ts'
import { type Act, acts } from './expectations.ts'
import {
  roleFactsOf,
  policyPrivileges,
  type SecuredRelation,
  type GrantedRole,
  writableIn,
} from './secured-relations.ts'

/** The acts of an actor on rows of a relation, each of which is taken back. */

/** Rows by their places in the list that was tried, or why Postgres refused the act. */
export type Reached = { readonly places: ReadonlySet<number> } | { readonly refusal: string }

export interface TriedRow {
  /** The columns that find the row for the actor, as text. */
  readonly key: string
  /** JSON of all columns. */
  readonly row: string
}

export interface Trial {
  readonly query: Query
  readonly schemas: readonly string[]
}

export interface Tried {
  readonly rows: readonly TriedRow[]
  readonly reached: Readonly<Record<Act, Reached>>
}

const mostRows = 50
const mostOfCondition = 25

interface Place {
  readonly trial: Trial
  readonly relation: SecuredRelation
  readonly actor: TriedActor
  readonly facts: GrantedRole
  readonly rows: readonly TriedRow[]
}

/**
 * Tries every act on the first rows, and on some that meet each condition.
 * @param reader the role that reads all rows
 */
export async function tryActs(
  trial: Trial,
  relation: SecuredRelation,
  actor: TriedActor,
  { reader, conditions }: { readonly reader: string; readonly conditions: readonly string[] },
): Promise<Tried> {
  const facts = roleFactsOf(relation, actor.role)
  if (facts === undefined) throw new Error(`The privileges of ${actor.role} were not read.`)
  const rows = await sampleRows({ trial, relation, actor, facts, rows: [] }, reader, conditions)
  const place = { trial, relation, actor, facts, rows }
  const reached = new Map<Act, Reached>()
  for (const act of acts) {
    const reach = reachOf(policyPrivileges(relation, facts), act === 'update to' ? 'update' : act)
    if (reach.kind === 'no-grant') reached.set(act, { refusal: `${reach.privilege} is not granted` })
    else reached.set(act, rows.length === 0 ? nowhere : await tries[act](place, reached))
  }
  return { rows, reached: Object.fromEntries(reached) as Record<Act, Reached> }
}

const nowhere: Reached = { places: new Set() }

const tableOf = ({ relation }: Place): string => qualified(relation.schema, relation.name)

/** The primary key, or else all that the actor may read. */
function keyText({ relation: { key }, facts: { columns } }: Place): string {
  const isReadable = key.length > 0 && key.every((name) => columns.select.includes(name))
  return `row(${(isReadable ? key : columns.select).map(ident).join(', ')})::text`
}

async function sampleRows(place: Place, reader: string, conditions: readonly string[]): Promise<readonly TriedRow[]> {
  const { trial, relation, actor } = place
  const order = relation.key.length === 0 ? '' : ` order by ${relation.key.map(ident).join(', ')}`
  const table = tableOf(place)
  const text = `select ${keyText(place)} as key, pg_catalog.to_jsonb(${ident(relation.name)}.*)::text as row from ${table}`
  const found = await as(trial, { ...actor, role: reader }, async ({ query }) => {
    const first = await query<TriedRow>(`${text}${order} limit ${mostRows}`)
    const lists = [first.rows]
    if (first.rows.length === mostRows)
      for (const condition of conditions) {
        const more = await attemptUndone(query, () =>
          query<TriedRow>(`${text} where (${condition}\n)${order} limit ${mostOfCondition}`),
        )
        if ('value' in more) lists.push(more.value.rows)
      }
    return lists.flat()
  })
  return [...new Map(found.map((one) => [one.row, one])).values()]
}

const as = <T>(trial: Trial, actor: TriedActor, work: (trial: Trial) => Promise<T>): Promise<T> =>
  undone(trial.query, async () => {
    await become(trial.query, actor, trial.schemas)
    return work(trial)
  })

type Attempted<T> = { readonly value: T } | { readonly refusal: string }

/** Within a savepoint. Rejects only if the database is away. */
async function attemptUndone<T>(query: Query, work: () => Promise<T>): Promise<Attempted<T>> {
  try {
    return { value: await undone(query, work) }
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || isAway(error)) throw error
    return { refusal: error.message }
  }
}

type Try = (place: Place, before: ReadonlyMap<Act, Reached>) => Promise<Reached>

const tries: Readonly<Record<Act, Try>> = {
  select: (place) => found(place, ''),
  // Finds the rows that UPDATE would, and runs no trigger (manual, CREATE POLICY, table 301).
  update: (place) => found(place, ' for update'),
  insert: (place) => {
    const columns = writable(place, 'insert')
    return each(
      place,
      place.rows,
      `insert into ${tableOf(place)} (${columns}) select ${columns} from ${recordOf(place)}`,
    )
  },
  'update to': (place, before) => {
    const columns = writable(place, 'update')
    const from = changedRowOf(place, before.get('update') ?? nowhere)
    if (from === null) return Promise.resolve(nowhere)
    const set = `(${columns}) = (select ${columns} from ${recordOf(place)})`
    return each(place, place.rows, `update ${tableOf(place)} set ${set} where ${keyText(place)} = ${literal(from.key)}`)
  },
  delete: (place) => {
    const keys = place.rows.map(({ key }) => ({ row: JSON.stringify(key) }))
    return each(place, keys, `delete from ${tableOf(place)} where ${keyText(place)} = $1::jsonb #>> '{}'`)
  },
}

/** The row that an actor changes to try new values. */
export const changedRowOf = ({ rows }: Pick<Place, 'rows'>, reached: Reached): TriedRow | null =>
  'places' in reached ? (rows.find((_row, place) => reached.places.has(place)) ?? null) : null

const writable = ({ relation, facts }: Place, act: 'insert' | 'update'): string =>
  writableIn(relation, facts, act).map(ident).join(', ')

const recordOf = (place: Place): string =>
  `pg_catalog.jsonb_populate_record(null::${tableOf(place)}, $1::jsonb) as new_row`

/** The rows that a query of the actor finds. */
async function found(place: Place, suffix: string): Promise<Reached> {
  const { trial, actor, rows } = place
  const key = keyText(place)
  const text = `select ${key} as key from ${tableOf(place)} where ${key} = any ($1)${suffix}`
  return as(trial, actor, async ({ query }) => {
    const answer = await attemptUndone(query, () => query<Pick<TriedRow, 'key'>>(text, [rows.map((row) => row.key)]))
    if ('refusal' in answer) return answer
    const keys = new Set(answer.value.rows.map((row) => row.key))
    return { places: new Set(rows.flatMap((row, index) => (keys.has(row.key) ? [index] : []))) }
  })
}

/** Runs a statement for each row, and takes each back. Values travel by settings, since DO takes no parameters. */
const eachSql = `do $$
declare given record; touched bigint; outcomes jsonb := '[]';
begin
  for given in select value from pg_catalog.jsonb_array_elements(pg_catalog.current_setting('catalograph.rows')::jsonb) loop
    begin
      execute pg_catalog.current_setting('catalograph.act') using given.value;
      get diagnostics touched = row_count;
      raise sqlstate 'CG000' using message = touched::text;
    exception when others then
      outcomes := outcomes || pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_array(sqlstate, sqlerrm));
    end;
  end loop;
  perform pg_catalog.set_config('catalograph.rows', outcomes::text, true);
end $$`

type Outcome = readonly [sqlstate: string, message: string]

/** Policies are checked before constraints (class 23), so a row that violates one was let in by them. */
const isReached = ([sqlstate, message]: Outcome): boolean =>
  sqlstate === 'CG000' ? message !== '0' : sqlstate.startsWith('23')

async function each(place: Place, rows: readonly { readonly row: string }[], statement: string): Promise<Reached> {
  const { trial, actor } = place
  return as(trial, actor, async ({ query }) => {
    const answer = await attemptUndone(query, async () => {
      const values = [`[${rows.map(({ row }) => row).join(',')}]`, statement]
      await query(
        `select pg_catalog.set_config('catalograph.rows', $1, true), pg_catalog.set_config('catalograph.act', $2, true)`,
        values,
      )
      await query(eachSql)
      return query<{ outcomes: readonly Outcome[] }>(
        `select pg_catalog.current_setting('catalograph.rows')::jsonb as outcomes`,
      )
    })
    if ('refusal' in answer) return answer
    const outcomes = answer.value.rows[0]?.outcomes ?? []
    const places = outcomes.flatMap((outcome, index) => (isReached(outcome) ? [index] : []))
    const [refused] = outcomes.filter((outcome) => !isReached(outcome) && outcome[0] !== 'CG000')
    return places.length === 0 && refused !== undefined ? { refusal: refused[1] } : { places: new Set(places) }
  })
}

/** Rows that meet a condition, evaluated as a policy of the relation is for the actor. */
export async function meeting(
  trial: Trial,
  relation: SecuredRelation,
  actor: TriedActor,
  { rows, sql }: { readonly rows: readonly string[]; readonly sql: string },
): Promise<Reached> {
  const table = qualified(relation.schema, relation.name)
  const text = `select (ordinality - 1)::int as place
    from pg_catalog.jsonb_populate_recordset(null::${table}, $1::jsonb) with ordinality as ${ident(relation.name)} where (${sql}\n)`
  return as(trial, actor, async ({ query }) => {
    const answer = await attemptUndone(query, () => query<{ readonly place: number }>(text, [`[${rows.join(',')}]`]))
    return 'refusal' in answer ? answer : { places: new Set(answer.value.rows.map(({ place }) => place)) }
  })
}

/** The rows as they are after an insert or update that sets the columns that the actor may write. */
export async function newRows(
  trial: Trial,
  relation: SecuredRelation,
  actor: TriedActor,
  {
    rows,
    from,
    act,
  }: { readonly rows: readonly TriedRow[]; readonly from: TriedRow | null; readonly act: 'insert' | 'update' },
): Promise<readonly string[]> {
  const facts = roleFactsOf(relation, actor.role)
  const written = facts === undefined ? [] : writableIn(relation, facts, act)
  const left = relation.columns.filter(({ name }) => !written.includes(name))
  if (left.length === 0) return rows.map(({ row }) => row)
  const defaults = left.flatMap(({ name, default: sql }) => (sql === null ? [] : [`${literal(name)}, (${sql})`]))
  const base = from === null ? `pg_catalog.jsonb_build_object(${defaults.join(', ')})` : '$3::jsonb'
  const text = `select (${base} || coalesce((select pg_catalog.jsonb_object_agg(key, value)
      from pg_catalog.jsonb_each(given.value) where key = any ($2::text[])), '{}'))::text as row
    from pg_catalog.jsonb_array_elements($1::jsonb) with ordinality as given(value, place) order by place`
  const values = [`[${rows.map(({ row }) => row).join(',')}]`, written, ...(from === null ? [] : [from.row])]
  return as(trial, actor, async ({ query }) => {
    const answer = await attemptUndone(query, () => query<{ readonly row: string }>(text, values))
    // A default that the actor may not evaluate: the insert itself fails then.
    return 'refusal' in answer ? rows.map(({ row }) => row) : answer.value.rows.map(({ row }) => row)
  })
}
