/** The rules for new passwords (spec/auth.md 1 and 12). */
export interface PasswordRules {
  readonly password_min_length: number
  /** One character of each class is required. */
  readonly password_required_characters: readonly string[]
}

export type WeakReason = 'length' | 'characters'

export interface Weakness {
  readonly message: string
  readonly reasons: readonly WeakReason[]
}

/** bcrypt reads no further (spec/auth.md 12). */
const longestBytes = 72

/** The weaknesses of a password, or null. A character is a code point, however many bytes it has. */
export function judgeStrength(password: string, rules: PasswordRules): Weakness | null {
  const tooShort = [...password].length < rules.password_min_length
  const lacking = rules.password_required_characters.filter((all) => ![...all].some((one) => password.includes(one)))
  if (!tooShort && lacking.length === 0) return null
  const sentences = [
    ...(tooShort ? [`Password should be at least ${rules.password_min_length} characters.`] : []),
    ...(lacking.length > 0
      ? [`Password should contain at least one character of each: ${rules.password_required_characters.join(', ')}.`]
      : []),
  ]
  const reasons: readonly WeakReason[] = [
    ...(tooShort ? (['length'] as const) : []),
    ...(lacking.length > 0 ? (['characters'] as const) : []),
  ]
  return { message: sentences.join(' '), reasons }
}

/** Whether a password is longer than its hashed part. */
export function isTooLong(password: string): boolean {
  return Buffer.byteLength(password, 'utf8') > longestBytes
}
