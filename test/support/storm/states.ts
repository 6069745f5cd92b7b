import type { Random } from '../random.ts'

/** Tables of a storm of schema changes: what each committed state of one is, and what changes it. */

/** One committed state of a table, as far as requests can see it. */
export interface State {
  readonly exists: boolean
  readonly granted: boolean
  readonly swapped: boolean
  /** Its comments have no settings: requests for other tables do not wait for its changes. */
  readonly plain: boolean
  readonly name: string
  /** Columns c_n by their n, with their types. */
  readonly extra: Readonly<Record<string, IntegerType>>
}

type IntegerType = 'int' | 'smallint'

/** A state holds from some moment between `asked` and `done` on. */
export interface Commit {
  readonly asked: number
  readonly done: number
  readonly state: State
}

export interface Table {
  readonly id: number
  commits: Commit[]
}

/** The one without settings. */
const plainTable = 3

export const tableIds: readonly number[] = [0, 1, 2, plainTable]

export const initial = (id: number): State => ({
  exists: true,
  granted: true,
  swapped: false,
  plain: id === plainTable,
  name: `t${id}`,
  extra: {},
})

export const create = (state: State): string => (state.plain ? createPlain(state) : createNamed(state))

const createPlain = ({ name }: State): string => `
  create table ${name} (id uuid primary key default gen_random_uuid(), x text, y text);
  insert into ${name} (x, y) values ('x', 'y'), ('x', 'y');
  grant select, insert on ${name} to anon;`

const createNamed = ({ name }: State): string => `
  create table ${name} (id uuid primary key default gen_random_uuid(), a text, b text);
  insert into ${name} (a, b) values ('x', 'y'), ('x', 'y');
  comment on column ${name}.a is '@graphql({"name": "x"})'; comment on column ${name}.b is '@graphql({"name": "y"})';
  grant select, insert on ${name} to anon;`

export interface Change {
  readonly sql: string
  readonly state: State
}

/** The names that the columns a and b have in the API. */
export const names = ({ swapped }: State): readonly [string, string] => (swapped ? ['y', 'x'] : ['x', 'y'])

const without = ({ extra }: State, n: string): State['extra'] =>
  Object.fromEntries(Object.entries(extra).filter(([one]) => one !== n))

type MakeChange = (state: State, id: number, random: Random) => Change | null

/** Changes of one of the columns c_n. */
const ofColumn =
  (make: (state: State, n: string, type: IntegerType, random: Random) => Change | null): MakeChange =>
  (state, _id, random) => {
    const [first] = Object.entries(state.extra)
    return state.exists && first !== undefined ? make(state, ...first, random) : null
  }

/** Each makes the next state of a table that exists, or of one that does not; null: it does not apply. */
export const changes: readonly MakeChange[] = [
  (state, id) => (state.exists ? null : { sql: create(initial(id)), state: initial(id) }),
  (state, _id, random) =>
    state.exists && random(3) === 0 ? { sql: `drop table ${state.name}`, state: { ...state, exists: false } } : null,
  (state) => {
    const next = { ...state, swapped: !state.swapped }
    const [a, b] = names(next)
    const sql = `comment on column ${state.name}.a is '@graphql({"name": "${a}"})';
      comment on column ${state.name}.b is '@graphql({"name": "${b}"})'; update ${state.name} set a = '${a}', b = '${b}'`
    return state.exists && !state.plain ? { sql: `lock table ${state.name}; ${sql}`, state: next } : null
  },
  (state, _id, random) => {
    const n = random(4)
    if (!state.exists || n in state.extra) return null
    return {
      sql: `alter table ${state.name} add column c_${n} int default ${n}`,
      state: { ...state, extra: { ...state.extra, [n]: 'int' } },
    }
  },
  ofColumn((state, n) => ({
    sql: `alter table ${state.name} drop column c_${n}`,
    state: { ...state, extra: without(state, n) },
  })),
  ofColumn((state, n, type, random) => {
    const m = random(4)
    if (m in state.extra) return null
    const sql = `alter table ${state.name} rename column c_${n} to c_${m}; update ${state.name} set c_${m} = ${m};
      alter table ${state.name} alter column c_${m} set default ${m}`
    return { sql, state: { ...state, extra: { ...without(state, n), [m]: type } } }
  }),
  ofColumn((state, n, type) => {
    const next = type === 'int' ? 'smallint' : 'int'
    const sql = `alter table ${state.name} alter column c_${n} type ${next}`
    return { sql, state: { ...state, extra: { ...state.extra, [n]: next } } }
  }),
  (state, id, random) => {
    const name = `t${id}${['', '_b', '_c'][random(3)] ?? ''}`
    if (!state.exists || name === state.name) return null
    return { sql: `alter table ${state.name} rename to ${name}`, state: { ...state, name } }
  },
  (state) =>
    !state.exists
      ? null
      : state.granted
        ? { sql: `revoke all on ${state.name} from anon`, state: { ...state, granted: false } }
        : { sql: `grant select, insert on ${state.name} to anon`, state: { ...state, granted: true } },
  (state, _id, random) =>
    state.exists ? { sql: `comment on table ${state.name} is 'text ${random(9)}'`, state } : null,
  (state) =>
    state.exists
      ? {
          sql: `alter table ${state.name} enable row level security; alter table ${state.name} disable row level security`,
          state,
        }
      : null,
]

/** They change nothing that a request can select. */
export const noises: readonly string[] = [
  'create table noise (id int primary key)',
  'drop table if exists noise',
  'create temp table if not exists passing (id int)',
  'drop table if exists pg_temp.passing',
  'refresh materialized view kept',
  'create type kind as enum ()',
  'drop type if exists kind',
  'grant storm_group to anon',
  'revoke storm_group from anon',
  'create schema if not exists other',
  'drop schema if exists other',
  'begin; create table undone (id int primary key); rollback',
  'create or replace function twice(a int) returns int language sql as $$ select 2 * a $$',
]
