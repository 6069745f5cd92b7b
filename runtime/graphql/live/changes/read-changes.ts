import { foundChannel, noRelation } from '../../../db/check/live-locks.ts'
import { rolesExpression } from '../../../db/check/version.ts'
import type { Query } from '../../../db/connect/session.ts'

export interface ChangeReading {
  /** The later one, as Postgres prints it. */
  readonly snapshot: string
  readonly rows: readonly ChangeRow[]
  /** Rows were deleted before they were read, or there are too many for one read. */
  readonly missed: boolean
  readonly schema: boolean
  /** Another process leads. */
  readonly leader: boolean
  /** A value that changes with the memberships and attributes of roles; null: not requested. */
  readonly roles: string | null
}

export interface ChangeRow {
  readonly root: number
  readonly values: ReadonlyMap<string, ReadonlySet<string>>
}

/** More changes are reported as missed, which costs each watch one more answer and no memory. */
const mostRows = 10_000

/**
 * A transaction that is visible in the snapshot of this statement but not in the previous one: however late it commits,
 * it is read once (engine.md 7).
 */
const unread = `xid >= pg_snapshot_xmin($1::pg_snapshot) and not pg_visible_in_snapshot(xid, $1::pg_snapshot)`

const changesText = (roles: boolean): string => `select pg_current_snapshot()::text as snapshot, ${
  roles ? rolesExpression : 'null::text'
} as roles, read.changes, case when $2 and read.changes is not null then pg_notify('${foundChannel}', '') end as reported,
  exists (select from catalograph.live_pruned p where pg_snapshot_xmax(p.past) > pg_snapshot_xmax($1::pg_snapshot)
    or exists (select from pg_snapshot_xip($1::pg_snapshot) x where pg_visible_in_snapshot(x, p.past))) as missed
  from (select json_agg(json_build_array(c.relation::int8, c.touched::json)) as changes from (
    select relation, touched from catalograph.live_changes where ${unread} limit ${mostRows + 1}) c) read`

const texts = { false: changesText(false), true: changesText(true) }

interface Row {
  readonly snapshot: string
  readonly roles: string | null
  readonly missed: boolean
  readonly changes:
    | readonly (readonly [relation: number, touched: Readonly<Record<string, readonly string[]>>])[]
    | null
}

const isRoot = (relation: number): boolean => relation !== noRelation.schema && relation !== noRelation.leader

/** The starting point of reading. */
export interface Snapshot {
  readonly snapshot: string
  /** A value that changes with the memberships and attributes of roles. */
  readonly roles: string
}

export const readSnapshot = async (query: Query): Promise<Snapshot> => {
  const { rows } = await query<Snapshot>(`select pg_current_snapshot()::text as snapshot, ${rolesExpression} as roles`)
  if (rows[0] === undefined) throw new Error('nothing was read')
  return rows[0]
}

interface ReadFrom {
  /** The last snapshot. */
  readonly since: string
  /** Whether to notify the other processes of changes. */
  readonly notify: boolean
  readonly roles: boolean
}

export const readChanges = async (query: Query, { since, notify, roles }: ReadFrom): Promise<ChangeReading> => {
  const name = `catalograph.live.${roles ? 'tick' : 'look'}`
  const [row] = (await query<Row>(texts[`${roles}`], [since, notify], name)).rows
  if (row === undefined) throw new Error('nothing was read')
  const changes = row.changes ?? []
  return {
    snapshot: row.snapshot,
    roles: row.roles,
    missed: row.missed || changes.length > mostRows,
    schema: changes.some(([relation]) => relation === noRelation.schema),
    leader: changes.some(([relation]) => relation === noRelation.leader),
    rows: changes
      .slice(0, mostRows)
      .flatMap(([root, touched]) =>
        isRoot(root)
          ? [{ root, values: new Map(Object.entries(touched).map(([column, values]) => [column, new Set(values)])) }]
          : [],
      ),
  }
}
