/** The secret before a rotation (spec/auth.md 2.2): what it signed is believed until a date, and it signs nothing more. */
export interface PreviousSecret {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly until: number
}
