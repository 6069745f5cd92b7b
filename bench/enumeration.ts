import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAuthServer, type AuthServer } from '../test/support/auth.ts'
import { median } from './support/statistics.ts'

/**
 * spec/auth.md, attack 22: whether the time of an answer reveals that an address has an account. Known and unknown
 * addresses alternately, in a new random order each round, in one run; beside them a second known one, whose difference
 * from the first is the noise. `z` is that of the rank sum (Mann and Whitney): within 2 of 0 the samples do not differ.
 * "next" is a request right after each answer, which would be delayed by remaining work. BENCH_SAMPLES changes the
 * number (200).
 */
const samples = Number(process.env['BENCH_SAMPLES'] ?? 200)

let server: AuthServer
beforeAll(async () => {
  server = await startAuthServer({ fullHashing: true, settings: { mail_cooldown: '0', mail_ceiling: '1000000' } })
})
afterAll(() => server.stop())

const password = 'a good password'

/** An account accepts at most thirty wrong passwords without a pause (spec/auth.md 4.4). */
const allGuesses = 'delete from catalograph_auth.password_guesses'

/** The calls, and whether the account of the known addresses is confirmed. */
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
    // The work after the answers continues at its own pace; it must not accumulate unrealistically.
    if (round % 20 === 0) await server.settled()
    if (round % 20 === 0) await server.db.query(allGuesses)
  }
  for (const part of ['answer', 'next'] as const) {
    const [one, again, unknown] = series.map((name) => times[name].map((taken) => taken[part]))
    const said = [compared('unknown', one, unknown), compared('noise', one, again)]
    console.info(`${path} (${standing}), ${part}: ${said.join('; ')}`)
  }
})

/** Hashes of an unknown password, of every kind that can be imported; null: none. */
const kinds: Readonly<Record<string, string | null>> = {
  ...Object.fromEntries(
    Array.from({ length: 11 }, (_none, index) => {
      const cost = String(index + 4).padStart(2, '0')
      return [`bcrypt ${cost}`, `$2b$${cost}$7EqJtq98hPqEX7fNZaFWoOhi5ZsVYvDQX7rVg7h8e7gPjG1Bqi2Ga`]
    }),
  ),
  argon2id: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g',
  Firebase: '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=c2lnbmVyc2lnbmVyc2lnbmVyc2lnbmVy$c2FsdHNhbHQ=$aGFzaGhhc2g=',
  'no password': null,
}

/** Wrong passwords of accounts with different kinds of hashes, alternately, and of an unknown address. */
test('POST /token?grant_type=password, imported hashes', { timeout: 7_200_000 }, async () => {
  const address = (kind: string): string => `${kind.replace(/\W/g, '')}@example.com`
  for (const [kind, hash] of Object.entries(kinds)) {
    const body = { email: address(kind), email_confirm: true, ...(hash !== null && { password_hash: hash }) }
    expect((await server.call('POST', '/admin/users', { token: server.serviceRole, body })).status).toBe(200)
  }
  const names = ['unknown', ...Object.keys(kinds)]
  const times = new Map(names.map((name): [string, number[]] => [name, []]))
  for (let round = -2; round < samples; round += 1) {
    if (round % 20 === 0) await server.db.query(allGuesses)
    for (const name of shuffled(names)) {
      const began = performance.now()
      const body = { email: address(name), password: 'a wrong password' }
      expect((await server.call('POST', '/token?grant_type=password', { body })).status).toBe(400)
      if (round >= 0) times.get(name)?.push(performance.now() - began)
    }
  }
  const unknown = median(times.get('unknown') ?? [])
  for (const [name, taken] of times) {
    console.info(`${name}: ${median(taken).toFixed(1)} ms, ${(median(taken) / unknown).toFixed(3)} of unknown`)
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
