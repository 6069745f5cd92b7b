import type { PartyKind } from '../lib/sharing/places.ts'

/** The data of one request to the database, and of its answer. */

/** A statement as it is prepared: its name is unique for (role, text), so that no plan serves two roles. */
export interface PreparedText<Text extends string = string> {
  readonly name: string
  readonly text: Text
}

declare const openText: unique symbol

/**
 * Text of a select list without FROM, with or without WITH, to which columns and a condition can be added. The printer
 * makes it of such trees (runtime/sql/print.ts).
 */
export type OpenText = string & { readonly [openText]: true }

/** A parameter, by its place among the values, and SQL of type text for its value. */
export interface TenantPlace {
  readonly at: number
  readonly expression: string
}

export type CheckableText =
  | (PreparedText<OpenText> & { readonly carriesCheck: true })
  | (PreparedText & { readonly carriesCheck?: never })

interface Bound<Text extends string> extends PreparedText<Text> {
  /** Parameters in text format, in order of $1, $2, ... */
  readonly values: readonly (string | null)[]
  /** The name of a prepared statement that is closed before the exchange; it need not exist. */
  readonly closes?: string
  /** Parameters whose values come from the caller's claims; null until then. */
  readonly tenants?: readonly TenantPlace[] | undefined
  /** The answer if it changes no row, used if rows may lie on other servers. */
  readonly unchanged?: string | undefined
}

/**
 * The exchange's check of the version is a condition of this statement. In a reading exchange its row has a further
 * column, the check's own.
 */
export interface OpenStatement extends Bound<OpenText> {
  readonly carriesCheck: true
}

interface ClosedStatement extends Bound<string> {
  readonly carriesCheck?: never
}

export type BoundStatement = OpenStatement | ClosedStatement

/** A column in text format; long values are UTF-8 bytes, because most are passed on unchanged. Use `toString`. */
export type Cell = string | Buffer | null

/** Columns of the first row; empty when the statement returned no row. */
export type ResultRow = readonly Cell[]

/** The caller, as identity reads it from the verified token. */
export interface Caller {
  readonly role: string
  /** JSON text of the token's claims, passed to Postgres as request.jwt.claims unchanged. */
  readonly claims: string
  /** The id of a signed-in user; absent for anon, guests and tokens without a user. */
  readonly user?: string
}

export interface RolePrivileges {
  readonly role: string
  readonly superuser: boolean
  /** Whether it bypasses policies (BYPASSRLS); absent if statements do not depend on it. */
  readonly bypassRls?: boolean
  /** All roles with privileges on served objects; the same list for each role of a schema. */
  readonly holders: readonly string[]
  /** Those of them whose privileges the role has, itself included; all for a superuser. */
  readonly held: ReadonlySet<string>
}

/** A condition for the statements of an exchange to run, besides the version. */
export interface ExchangeCondition {
  /** Identifies its SQL. */
  readonly nameSuffix: string
  /** SQL of type boolean that is true or fails; its parameters are numbered from `first`. */
  readonly sql: (first: number) => string
  readonly values: readonly (string | null)[]
}

/** State that functions of the database may leave beyond a statement or transaction, according to their source text. */
export interface Leftovers {
  /** The role and other settings: reset between the statements of a writing exchange. */
  readonly settings: boolean
  /** Advisory locks and temporary tables of the connection: released before it is lent again. */
  readonly session: boolean
}

export interface Exchange {
  readonly caller: Caller
  /** True if nothing in the database reads claims except as `request.jwt.claims`: they are not set individually. */
  readonly claimsTogether?: boolean | undefined
  /** True if rows may lie on other servers (Citus), which get the claims as well; the check does not run there. */
  readonly distributed?: boolean | undefined
  /** Schema version that the statements were compiled for; null if it is not followed. */
  readonly version: string | null
  /**
   * The privileges of the caller's role in that version. With them the first check compares only the counter and these,
   * not the facts of every role.
   */
  readonly privileges?: RolePrivileges | undefined
  /** Checked with the version, which must be given. */
  readonly condition?: ExchangeCondition | undefined
  /** State that functions of the database may leave and that is reset; absent: none. */
  readonly leaves?: Leftovers | undefined
  /** True runs the statements in a read-only transaction. */
  readonly readOnly: boolean
  /** The connection's `application_name` during the exchange, for pg_stat_activity; absent: unchanged. */
  readonly label?: string | undefined
  readonly statements: readonly BoundStatement[]
}

/** The HTTP request of an exchange, for the database layer. */
export interface RequestContext {
  /** Whose share of the connections it takes: a user's id or a client's address. */
  readonly party: string
  readonly kind: PartyKind
  /** On the monotonic clock (performance.now), in milliseconds; Infinity: none. */
  readonly deadline: number
  /** The application_name of its connection while it runs; absent: unchanged. */
  label?: string | undefined
  /** Null: durations are not needed. */
  readonly timeline: Timeline | null
  /** The position of its client's last read or write: a replica that answers must have replayed it. */
  position: Position | null
  /** True once something of it was sent to a server; absent: nothing. */
  sent?: boolean
  /** True once its client has closed the connection. */
  aborted: boolean
  /** Called when that happens, while an exchange waits or runs. */
  onAbort: (() => void) | null
}

/**
 * Runs an exchange in one round trip and one implicit transaction; one row per statement. Without a context it is our
 * own, without a client. Rejects with DatabaseFailure.
 */
export type RunExchange = (exchange: Exchange, context?: RequestContext) => Promise<readonly ResultRow[]>

/**
 * A position in a database's history of changes: a timeline, which a promoted replica increments, and a byte of the log
 * (PostgreSQL manual 26.3.5 and 9.27.3). Every server that has replayed as far has all earlier commits.
 */
export interface Position {
  readonly timeline: number
  readonly lsn: bigint
}

/** A write, as processes with the same callers report it to each other. */
export interface NotedWrite {
  /** The party that must see it; null: all. */
  readonly party: string | null
  /** Null: unknown. */
  readonly position: Position | null
}

/** The header of requests and answers with a position. */
export const positionHeader = 'catalograph-position'

/** Timeline and log position as Postgres writes them, such as 1/0/16B3748. */
export function positionText({ timeline, lsn }: Position): string {
  return `${timeline}/${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase()
}

const pattern = /^(\d{1,9})\/([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** Null if it is not a position. */
export function readPosition(text: unknown): Position | null {
  if (typeof text !== 'string') return null
  const [, timeline, high, low] = pattern.exec(text) ?? []
  if (timeline === undefined) return null
  return { timeline: Number(timeline), lsn: (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`) }
}

/** The later of two; positions of a newer timeline are later. */
export function laterPosition(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other
  if (one.timeline !== other.timeline) return one.timeline > other.timeline ? one : other
  return one.lsn > other.lsn ? one : other
}

/**
 * When the phases of a request ended, on the monotonic clock in milliseconds; 0: not reached. Kept for metrics, traces,
 * and the log of slow and failed requests.
 */
export interface Timeline {
  readonly arrived: number
  /** Its statements were known and bound. */
  prepared: number
  /** It had a connection. */
  acquired: number
  answered: number
}

export type Phase = 'prepare' | 'queue' | 'database'

/** Start and end of each phase that a request reached. */
export function phasesOf({
  arrived,
  prepared,
  acquired,
  answered,
}: Timeline): readonly (readonly [Phase, number, number])[] {
  if (prepared === 0) return []
  const prepare = ['prepare', arrived, prepared] as const
  if (acquired === 0) return [prepare]
  const queue = ['queue', prepared, acquired] as const
  return answered === 0 ? [prepare, queue] : [prepare, queue, ['database', acquired, answered]]
}
