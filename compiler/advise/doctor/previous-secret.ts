import type { Settings } from '../../../runtime/settings/keys.ts'
import { previousSecretOf } from '../../../runtime/settings/rotation.ts'
import { advise, type Finding } from './findings.ts'

/** The progress of a rotation of JWT_SECRET; empty without one. */
export function previousSecretFindings(settings: Settings, now: number): readonly Finding[] {
  const previous = previousSecretOf(settings)
  if (previous === null) return []
  const day = new Date(previous.until).toISOString()
  const takeAway = 'take JWT_SECRET_PREVIOUS and JWT_SECRET_PREVIOUS_UNTIL away'
  if (previous.secret === settings.jwtSecret) {
    return [advise('rotation', 'JWT_SECRET_PREVIOUS is JWT_SECRET itself', `make a new JWT_SECRET, or ${takeAway}`)]
  }
  return previous.until > now
    ? [
        advise(
          'rotation',
          `keys and tokens of JWT_SECRET_PREVIOUS are accepted until ${day}`,
          'give clients the new keys until then',
        ),
      ]
    : [advise('rotation', `keys and tokens of JWT_SECRET_PREVIOUS are refused since ${day}`, takeAway)]
}
