/** What can be watched, and what tells that it changed (spec/graphql.md 16). */

/** What reading a relation or calling a function reads. */
export type LiveFacts =
  | {
      /**
       * Relations that have triggers which tell their changes, sorted. Of those that inherit or are partitions the root, under
       * which changes of the whole tree are told.
       */
      readonly reads: readonly LiveRelation[]
      /** Absent where changes of other rows than those that are asked for matter. */
      readonly own?: OwnRows
      /** One for each of them that has no triggers yet and will have some by itself: it can be watched then. */
      readonly awaited?: readonly LiveReason[]
    }
  | { readonly refused: readonly LiveReason[] }

/** Why something is not watched: a sentence of spec/graphql.md 16.1, which names an object. */
export interface LiveReason {
  readonly sentence: string
  /** The sentence for callers, where the other one names more than the object. */
  readonly forCallers?: string
  /** Grantees of USAGE on the object's schema, and of some privilege on the object: others do not learn its name. */
  readonly usage: readonly string[]
  readonly rights: readonly string[]
}

/** How the rows of a table are told apart. */
export interface OwnRows {
  /** Among `reads`: the relation under which their changes are told. */
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
  /** SQL name. */
  readonly column: string
  readonly value: string
}

/** Changes of a relation that matter to a watch. */
export interface Interest {
  readonly relation: LiveRelation
  /** All of them have to be met by the values of a change; none: any change matters. */
  readonly pins: readonly Pin[]
}

/** What one statement did to a relation. It is told when every later snapshot of the primary shows it. */
export interface Change {
  /** `ObjectId` of the relation: `["public","posts"]`. */
  readonly relation: string
  /** By column, the values of its rows before and after; a column that is not there may have had any. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>
}

export interface ChangeListener {
  readonly changed: (changes: readonly Change[]) => void
  /** Something was or may have been missed: an outage, a change of the schema or of roles. Everything is asked again. */
  readonly unsure: (why: 'outage' | 'schema') => void
}

/** Tells changes of relations that somebody watches. */
export interface ChangeFeed {
  /**
   * Resolves once every change that commits from now on will be told. Changes of transactions that were under way are
   * told by a change without values, when each of them has ended.
   * @param columns SQL names of the columns that pins need
   * Rejects with DatabaseFailure while the database is away; with an Error where the relation has no triggers.
   */
  readonly watch: (relation: LiveRelation, columns: readonly string[]) => Promise<void>
  /** Nobody watches it any more; that is told to Postgres some time later, unless somebody watches it again. */
  readonly unwatch: (relation: LiveRelation) => void
  /** Null: changes are told. Otherwise what keeps them from being told, in one sentence. */
  readonly fault: () => string | null
  readonly close: () => Promise<void>
}
