/** Rules of a schema's comment for requests (spec/graphql.md 13.2). */

export interface AllowlistFacts {
  /** It has the columns `hash` and `document`; null: the comment names no table, and no document is listed. */
  readonly table: { readonly schema: string; readonly name: string } | null
  /** Names of the roles that run listed documents only. */
  readonly roles: readonly string[]
}

/** Null: no limit. Of several schemas' limits the smallest holds. */
export interface LimitFacts {
  /** Selections after fragments are expanded. */
  readonly fields: number | null
  /** The sum over collections of a page times the pages around it. */
  readonly rows: number | null
  /** The sum of Postgres' estimates for the document's statements; absent: no limit. */
  readonly cost?: number
}
