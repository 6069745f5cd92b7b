/** The secret before a rotation (spec/auth.md 2.2): accepted until a date, and never used for signing. */
export interface PreviousSecret {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly until: number
}
