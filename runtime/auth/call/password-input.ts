import { refuse } from '../protocol/errors.ts'
import { isTooLong, judgeStrength, type PasswordRules } from '../rules/password.ts'

/** Checks a new password. Throws 422 `weak_password` and 400 `validation_failed` (spec/auth.md 4.2). */
export function checkNewPassword(password: string, rules: PasswordRules): void {
  const weakness = judgeStrength(password, rules)
  if (weakness !== null) throw refuse('weak_password', { message: weakness.message, weakReasons: weakness.reasons })
  if (isTooLong(password)) throw refuse('validation_failed', 'Password cannot be longer than 72 characters')
}
