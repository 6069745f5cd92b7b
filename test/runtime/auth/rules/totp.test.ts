import fc from 'fast-check'
import { generateSync } from 'otplib'
import { describe, expect, it, test } from 'vitest'
import { newTotpSecret, qrCode, stepOfCode, totpUri } from '../../../../runtime/auth/rules/totp.ts'
import { readQrCode } from '../../../support/totp.ts'

/** RFC 6238, appendix B: the secret of SHA-1, and the last six digits of its codes. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('a code by time', () => {
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
  ])('at %i is %s (RFC 6238, appendix B)', (seconds, code) => {
    const step = Math.floor(seconds / 30)
    for (const skew of [-30, 0, 30]) expect(stepOfCode(secret, code, (seconds + skew) * 1000)).toBe(step)
    for (const skew of [-60, 60]) expect(stepOfCode(secret, code, (seconds + skew) * 1000)).toBeNull()
  })

  it('belongs to the step that made it, at any moment', () => {
    fc.assert(
      fc.property(fc.nat({ max: 4_000_000_000_000 }), fc.integer({ min: -1, max: 1 }), (now, skew) => {
        const step = Math.floor(now / 30_000) + skew
        if (step < 0) return
        const code = generateSync({ secret, epoch: step * 30 })
        const found = stepOfCode(secret, code, now)
        // Two steps side by side have the same code once in a million.
        expect(found === step || (found !== null && generateSync({ secret, epoch: found * 30 }) === code)).toBe(true)
      }),
    )
  })

  test.each(['', '12345', '1234567', '١٢٣٤٥٦', ' 123456', '123456\n', '1e5000'])('is not %j', (code) => {
    expect(stepOfCode(secret, code, 59_000)).toBeNull()
  })

  test.each(['', 'short', 'not base32!', 'A'.repeat(5000)])('of the secret %j is never right', (bad) => {
    expect(stepOfCode(bad, '123456', 59_000)).toBeNull()
  })
})

it('a QR code reads as the address that it was made of, whatever stands in it', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 })
  fc.assert(
    fc.property(text, text, (issuer, account) => {
      const uri = totpUri({ issuer, account }, newTotpSecret())
      const svg = qrCode(uri)
      expect(svg).toMatch(/^<svg [^#]*<\/svg>$/)
      expect(readQrCode(svg)).toBe(uri)
    }),
    { numRuns: 10 },
  )
})
