import type { Position } from './position.ts'
import type { Timeline } from './timeline.ts'

/** What travels to the database for one request, and what comes back. */

/** A statement as it is prepared: its name is unique for (role, text), so that no plan serves two roles. */
export interface PreparedText<Text extends string = string> {
  readonly name: string
  readonly text: Text
}

declare const openText: unique symbol

/**
 * Text of a select list without FROM, WITH before it or not, to which columns and a condition can be added. The printer makes it
 * of trees that have this form (runtime/sql/print.ts).
 */
export type OpenText = string & { readonly [openText]: true }

/** A parameter, by its place among the values, and SQL of type text that gives its value. */
export interface TenantPlace {
  readonly at: number
  readonly expression: string
}

/** Text that carries the check of the version, or is whole as it is. */
export type CheckableText =
  | (PreparedText<OpenText> & { readonly carriesCheck: true })
  | (PreparedText & { readonly carriesCheck?: never })

interface Bound<Text extends string> extends PreparedText<Text> {
  /** Parameters in text format, in order of $1, $2, ... */
  readonly values: readonly (string | null)[]
  /** The name of a prepared statement that is given back before the exchange; it need not be there. */
  readonly closes?: string
  /** Parameters whose values the caller's claims give; until then they are null. */
  readonly tenants?: readonly TenantPlace[] | undefined
  /** What it answers where it changes no row, told where rows may lie on other servers. */
  readonly unchanged?: string | undefined
}

/**
 * The exchange's check of the version travels in this statement, as a condition. In a reading exchange its row has a
 * further column, the check's own.
 */
export interface OpenStatement extends Bound<OpenText> {
  readonly carriesCheck: true
}

interface ClosedStatement extends Bound<string> {
  readonly carriesCheck?: never
}

export type BoundStatement = OpenStatement | ClosedStatement

/** A column in text format, which `toString` gives: long ones as bytes of UTF-8, since most are sent on as they came. */
export type Cell = string | Buffer | null

/** Columns of the first row; empty when the statement returned no row. */
export type ResultRow = readonly Cell[]

/** Who asks: made by identity from the verified token. */
export interface Caller {
  readonly role: string
  /** JSON text of the token's claims, handed to Postgres as request.jwt.claims unchanged. */
  readonly claims: string
  /** The id of a user who signed in; left out for anon, for guests and for tokens without a user. */
  readonly user?: string
}

/** What a role counts as. */
export interface RolePrivileges {
  readonly role: string
  readonly superuser: boolean
  /** Whether no policy holds for it (BYPASSRLS); left out where statements do not depend on it. */
  readonly bypassRls?: boolean
  /** All roles that hold anything that is served; the same list for each role of a schema. */
  readonly holders: readonly string[]
  /** Those of them whose privileges the role has, itself among them if it is one; of a superuser all. */
  readonly held: ReadonlySet<string>
}

/** What has to hold besides the version for the statements of an exchange to run. */
export interface ExchangeCondition {
  /** Tells its SQL from that of others. */
  readonly nameSuffix: string
  /** SQL of type boolean that is true or fails; its parameters are numbered from `first`. */
  readonly sql: (first: number) => string
  readonly values: readonly (string | null)[]
}

/** What the source text of some function of the database mentions, and Postgres keeps beyond a statement or a transaction. */
export interface Leftovers {
  /** The role and other settings: taken back between the statements of a writing exchange. */
  readonly settings: boolean
  /** Advisory locks and temporary tables of the whole connection: taken back before it is lent again. */
  readonly session: boolean
}

export interface Exchange {
  readonly caller: Caller
  /** True where nothing in the database reads claims but as `request.jwt.claims`: they are not set one by one then. */
  readonly claimsTogether?: boolean | undefined
  /** True where rows may lie on other servers (Citus), which get the claims as well; the check does not travel there. */
  readonly distributed?: boolean | undefined
  /** Schema version that the statements were compiled for; null when it is not followed. */
  readonly version: string | null
  /**
   * What the caller's role counted as then. With it the first check of the version compares the counter and this, rather
   * than everything that is known of every role.
   */
  readonly privileges?: RolePrivileges | undefined
  /** Checked with the version, which must be given. */
  readonly condition?: ExchangeCondition | undefined
  /** What functions of the database may leave behind, so that it is taken back; left out: nothing. */
  readonly leaves?: Leftovers | undefined
  /** True runs the statements in a read-only transaction. */
  readonly readOnly: boolean
  /** What the connection is called meanwhile (`application_name`), so that pg_stat_activity shows it; left out: as ever. */
  readonly label?: string | undefined
  readonly statements: readonly BoundStatement[]
}

/**
 * Groups that share connections: strangers are anon and guests, members have signed in, service holds the service_role
 * key.
 */
export type PartyKind = 'stranger' | 'member' | 'service'

/** What the database layer knows of the HTTP request that an exchange belongs to. */
export interface RequestContext {
  /** Whose share of the connections it takes: a user's id or a client's address. */
  readonly party: string
  readonly kind: PartyKind
  /** On the monotonic clock (performance.now), in milliseconds; Infinity: the request has none. */
  readonly deadline: number
  /** What its connection is called while it runs; left out: as ever. */
  label?: string | undefined
  /** Null: nobody looks at how long its parts took. */
  readonly timeline: Timeline | null
  /** What its client has seen or written, and what it writes itself: a replica that answers it has replayed so far. */
  position: Position | null
  /** True once its client has closed the connection. */
  gone: boolean
  /** Called when that happens, while an exchange waits or runs. */
  onGone: (() => void) | null
}

/**
 * Runs an exchange in one round trip and one implicit transaction; one row per statement. Without a context it is our
 * own, which no client waits for. Rejects with DatabaseFailure.
 */
export type RunExchange = (exchange: Exchange, context?: RequestContext) => Promise<readonly ResultRow[]>
