interface GivenSecret {
  readonly jwtSecretPrevious: string | null
  /** ISO 8601. */
  readonly jwtSecretPreviousUntil: string | null
}

/** The secret before a rotation, and its last time, in milliseconds since 1970; null: no rotation. */
export const previousSecretOf = ({ jwtSecretPrevious: secret, jwtSecretPreviousUntil: until }: GivenSecret) =>
  secret === null || until === null ? null : { secret, until: Date.parse(until) }
