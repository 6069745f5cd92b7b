/** Which objects can be watched, and the changes that matter to them (spec/graphql.md 16). */

export type LiveFacts =
  | {
      /**
       * Relations with live triggers, sorted. Partitions and children are replaced by their root, under which changes
       * of the whole tree are reported.
       */
      readonly reads: readonly LiveRelation[]
      /** Absent if changes of other rows than the selected ones matter. */
      readonly own?: OwnRows
      /** One for each relation without triggers that will get them automatically: it can be watched then. */
      readonly awaited?: readonly LiveReason[]
    }
  | { readonly refused: readonly LiveReason[] }

/** Why something is not watched: a sentence of spec/graphql.md 16.1 about an object. */
export interface LiveReason {
  readonly sentence: string
  /** The sentence for callers, if the other one names more than the object. */
  readonly forCallers?: string
  /** Grantees of USAGE on the object's schema, and of some privilege on the object: only they may see its name. */
  readonly usage: readonly string[]
  readonly rights: readonly string[]
}

/** How rows of a table are identified in changes. */
export interface OwnRows {
  /** Among `reads`: the relation under which their changes are reported. */
  readonly relation: LiveRelation
  /** SQL names of columns whose equal values are equal texts. */
  readonly pins: readonly string[]
}

/** A relation by its SQL name; it need not be of a served schema. */
export interface LiveRelation {
  readonly schema: string
  readonly name: string
}

/** A value that a row has in a column before or after a change that matters, as Postgres prints it. */
export interface Pin {
  /** SQL name of the column. */
  readonly column: string
  readonly value: string
}

/** Changes of a relation that matter to a watch. */
export interface Interest {
  readonly relation: LiveRelation
  /** A change must match all of them; empty: any change matters. */
  readonly pins: readonly Pin[]
}

/** The effect of one statement on a relation. It is reported once every later snapshot of the primary includes it. */
export interface Change {
  /** `ObjectId` of the relation: `["public","posts"]`. */
  readonly relation: string
  /** By column, the values of its rows before and after; an absent column may have had any. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>
}

export interface ChangeListener {
  readonly changed: (changes: readonly Change[]) => void
  /** Changes were or may have been missed: an outage, a change of the schema or of roles. Every watch runs again. */
  readonly unsure: (why: 'outage' | 'schema') => void
}

export interface ChangeFeed {
  /**
   * Resolves once every change that commits from now on will be reported. Concurrent transactions are reported by a
   * change without values, when each of them has ended.
   * @param columns SQL names of the columns that pins need Rejects with DatabaseFailure while the database is away;
   * with an Error if the relation has no triggers.
   */
  readonly watch: (relation: LiveRelation, columns: readonly string[]) => Promise<void>
  /** The relation has no watch any more; Postgres is notified some time later, unless it is watched again. */
  readonly unwatch: (relation: LiveRelation) => void
  /** Null: changes are reported. Otherwise the obstacle in one sentence. */
  readonly fault: () => string | null
  readonly close: () => Promise<void>
}
