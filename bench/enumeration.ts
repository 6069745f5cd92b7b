import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAuthServer, type AuthServer } from '../test/support/auth.ts'

/**
 * Attack 22 of the auth specification: what the time of an answer tells about whether an address has an account. Prints medians in
 * one run, known and unknown addresses by turns; their ratio should be 1 within noise. BENCH_SAMPLES changes the number (200).
 */
const samples = Number(process.env['BENCH_SAMPLES'] ?? 200)
const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN

let server: AuthServer
beforeAll(async () => {
  server = await startAuthServer({ settings: { autoconfirm: 'on', mail_cooldown: '0' } })
})
afterAll(() => server.stop())

const paths = ['/recover', '/otp', '/resend'] as const

test.each(paths)('POST %s', { timeout: 300_000 }, async (path) => {
  const known = `known${path.slice(1)}@example.com`
  expect((await server.call('POST', '/signup', { body: { email: known, password: 'a good password' } })).status).toBe(
    200,
  )
  const took = async (email: string): Promise<number> => {
    const began = performance.now()
    const body = { email, create_user: true, ...(path === '/resend' && { type: 'signup' }) }
    expect((await server.call('POST', path, { body })).status).toBe(200)
    return performance.now() - began
  }
  const [ofKnown, ofUnknown]: [number[], number[]] = [[], []]
  for (let index = 0; index < samples; index += 1) {
    ofKnown.push(await took(known))
    ofUnknown.push(await took(`unknown${index}${path.slice(1)}@example.com`))
  }
  const [one, other] = [median(ofKnown), median(ofUnknown)]
  console.info(`${path}: known ${one.toFixed(2)} ms, unknown ${other.toFixed(2)} ms, ratio ${(one / other).toFixed(2)}`)
})
