import { generateSecret, verifySync } from 'otplib'
import { encodeQR } from 'qr'

/** Time-based codes (RFC 6238) of authenticator applications: SHA-1, six digits, thirty seconds. */

const period = 30
const digits = 6

/** Twenty random bytes in base32, without padding. */
export function newTotpSecret(): string {
  return generateSecret({ length: 20 })
}

/**
 * The time step of a code, the present one or a neighbour; null for a wrong code and for an invalid secret. `now` in
 * milliseconds.
 */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const epoch = Math.floor(now / 1000)
  try {
    const kind = { algorithm: 'sha1', digits, period, epochTolerance: period } as const
    const verdict = verifySync({ ...kind, secret, token: code, epoch })
    return verdict.valid ? Math.floor(epoch / period) + verdict.delta : null
  } catch {
    // Imported secrets can be too short, encrypted with a foreign key, or not base32.
    return null
  }
}

/** The name of a factor in an authenticator application. */
export interface TotpLabel {
  readonly issuer: string
  readonly account: string
}

/** The address for authenticator applications (Key URI format); parameters in alphabetical order. */
export function totpUri({ issuer, account }: TotpLabel, secret: string): string {
  const [by, of] = [encodeURIComponent(issuer), encodeURIComponent(account)]
  return `otpauth://totp/${by}:${of}?algorithm=SHA1&digits=${digits}&issuer=${by}&period=${period}&secret=${secret}`
}

/** SVG markup of a code with the quiet zone that readers need; without `#`, because clients put it into a data URL. */
export function qrCode(text: string): string {
  return encodeQR(text, 'svg', { ecc: 'low', border: 4 })
}
