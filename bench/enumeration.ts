import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAuthServer, type AuthServer } from '../test/support/auth.ts'
import { median } from './support/statistics.ts'

/**
 * spec/auth.md, attack 22: what the time of an answer tells about whether an address has an account. Known and unknown
 * addresses by turns, in an order drawn anew each round, in one run; beside them a second known one, whose difference
 * from the first is the noise. `z` is that of the rank sum (Mann and Whitney): within 2 of 0 the samples tell nothing.
 * "next" is a request right behind each answer, which would feel work that the answer did not wait for. BENCH_SAMPLES
 * changes the number (200).
 */
const samples = Number(process.env['BENCH_SAMPLES'] ?? 200)

let server: AuthServer
beforeAll(async () => {
  server = await startAuthServer({ fullHashing: true, settings: { mail_cooldown: '0', mail_ceiling: '1000000' } })
})
afterAll(() => server.stop())

const password = 'a good password'

/** What is called, and whether the account that the known addresses have is confirmed. */
const calls = [
  ['/recover', 'confirmed', {}],
  ['/otp', 'confirmed', {}],
  ['/otp', 'unconfirmed', {}],
  ['/magiclink', 'confirmed', {}],
  ['/resend', 'unconfirmed', { type: 'signup' }],
  ['/signup', 'confirmed', { password }],
  ['/signup', 'unconfirmed', { password }],
  ['/token?grant_type=password', 'confirmed', { password: 'a wrong password' }],
  ['/token?grant_type=password', 'unconfirmed', { password: 'a wrong password' }],
] as const

type Series = 'known' | 'known again' | 'unknown'
const series: readonly Series[] = ['known', 'known again', 'unknown']

interface Times {
  readonly answer: number
  readonly next: number
}

test.each(calls)('POST %s, %s', { timeout: 600_000 }, async (path, standing, more) => {
  const known = async (name: string): Promise<string> => {
    const email = `${name}-${standing}${path.replace(/\W/g, '')}@example.com`
    await server.call('POST', '/signup', { body: { email, password } })
    if (standing === 'confirmed') {
      await server.db.query('update auth.users set email_confirmed_at = now() where email = $1', [email])
    }
    return email
  }
  const accounts = { known: await known('known'), 'known again': await known('again') }
  const took = async (email: string): Promise<Times> => {
    const began = performance.now()
    const { status } = await server.call('POST', path, { body: { email, ...more } })
    const answered = performance.now()
    expect(status).toBe(path.startsWith('/token') ? 400 : 200)
    await server.call('GET', '/health')
    return { answer: answered - began, next: performance.now() - answered }
  }
  const times: Record<Series, Times[]> = { known: [], 'known again': [], unknown: [] }
  for (let round = -5; round < samples; round += 1) {
    for (const one of shuffled(series)) {
      const email = one === 'unknown' ? `u${round}-${standing}${path.replace(/\W/g, '')}@example.com` : accounts[one]
      const taken = await took(email)
      if (round >= 0) times[one].push(taken)
    }
    // The work behind the answers goes on at its own pace; it must not pile up as it never would.
    if (round % 20 === 0) await server.settled()
  }
  for (const part of ['answer', 'next'] as const) {
    const [one, again, unknown] = series.map((name) => times[name].map((taken) => taken[part]))
    const said = [compared('unknown', one, unknown), compared('noise', one, again)]
    console.info(`${path} (${standing}), ${part}: ${said.join('; ')}`)
  }
})

function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

function compared(name: string, known: readonly number[] = [], other: readonly number[] = []): string {
  const [one, two] = [median(known), median(other)]
  const z = rankSumZ(known, other).toFixed(1)
  return `${name} ${one.toFixed(2)} and ${two.toFixed(2)} ms, ratio ${(one / two).toFixed(2)}, z ${z}`
}

/** Normal approximation of the Mann-Whitney U test; times are never equal, so ties need no correction. */
function rankSumZ(a: readonly number[], b: readonly number[]): number {
  const ranked = [...a.map((value) => ({ value, ours: true })), ...b.map((value) => ({ value, ours: false }))]
  ranked.sort((x, y) => x.value - y.value)
  const ranks = ranked.reduce((sum, { ours }, index) => (ours ? sum + index + 1 : sum), 0)
  const [n, m] = [a.length, b.length]
  return (ranks - (n * (n + m + 1)) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}
