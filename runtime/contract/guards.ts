/** What a schema's comment lets requests be (spec/graphql.md 13.2). */

export interface AllowlistFacts {
  /** It has the columns `hash` and `document`; null: the comment names none, and nothing is listed. */
  readonly table: { readonly schema: string; readonly name: string } | null
  /** Names of the roles that run listed documents and no others. */
  readonly roles: readonly string[]
}

/** Null: no limit. Of several schemas' limits the smallest holds. */
export interface LimitFacts {
  /** Selections after fragments are expanded. */
  readonly fields: number | null
  /** Each collection's page times the pages of the collections around it, summed. */
  readonly rows: number | null
  /** Postgres' own estimate for the document's statements, summed; absent: no limit. */
  readonly cost?: number
}
