import type { webcrypto } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { httpRequest, type HttpAnswer } from '../../../../bench/support/http-client.ts'
import { asking, withToken } from '../callers.ts'
import type { Attack } from '../arms.ts'
import type { Town } from '../town.ts'

/** Floods of tokens, keys and sign-ins. */

/** Of a person whose key stays while others come and go. */
export interface StandingKey {
  readonly jwk: JWK
  readonly kid: string
  readonly key: webcrypto.CryptoKey
}

export async function makeKey(kid: string): Promise<StandingKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' }
  return { jwk, kid, key: privateKey }
}

/** The first of the keys signs. */
export const storeKeys = ({ store }: Pick<Town, 'store'>, keys: readonly StandingKey[]): Promise<void> => {
  const all = keys.map(({ jwk }, index) => ({ ...jwk, key_ops: index === 0 ? ['sign', 'verify'] : ['verify'] }))
  return store('jwt_keys', JSON.stringify({ keys: all }))
}

const tokens: Attack['run'] = async (arms) => {
  const { town, random, anon } = arms
  const forged = (): string => {
    const good = town.tokenOf({ sub: `s${random(1e9)}`, role: 'authenticated', data: 'x'.repeat(random(4_000)) })
    const [head, payload, signature = ''] = good.split('.')
    const kinds = [
      good,
      `${head}.${payload}.${signature.slice(1)}A`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      `${Buffer.from(`{"alg":"ES256","kid":"k${random(1e9)}"}`).toString('base64url')}.${payload}.${signature}`,
      town.tokenOf({ sub: 'x', role: 'authenticated', exp: 1 }),
      town.tokenOf({ sub: 'x', role: 'postgres' }),
      'x'.repeat(random(15_000)),
    ]
    return kinds[random(kinds.length)] as string
  }
  while (!arms.isOver()) {
    const address = arms.address()
    const wave = Array.from({ length: 10 }, () => {
      const caller = withToken({ keys: { ...town.keys, anon: anon.headers['apikey'] ?? '' } }, 'x', forged())
      return arms.ask(asking(caller, '{ whoami }'), { address })
    })
    await Promise.all(wave)
    await arms.rest(20)
  }
}

/** Other keys come and go; the key of a user's token stays. */
const rotation =
  (standing: StandingKey): Attack['run'] =>
  async (arms) => {
    for (let turn = 0; !arms.isOver(); turn += 1) {
      const added = await makeKey(`turn-${turn}`)
      await storeKeys(arms.town, turn % 2 === 0 ? [added, standing] : [standing, added])
      await arms.rest(300)
    }
    await storeKeys(arms.town, [standing])
  }

const post = (path: string, apikey: string, body: object): Buffer =>
  httpRequest({ path: `/auth/v1${path}`, headers: { apikey }, body })

const signIns: Attack['run'] = async (arms) => {
  const { keys } = arms.town
  const flood = Array.from({ length: 16 }, async () => {
    const address = arms.address()
    while (!arms.isOver()) {
      const email = `nobody${arms.random(1e6)}@example.com`
      const password = 'a wrong password'
      const calls = [
        post('/token?grant_type=password', keys.anon, { email, password }),
        post('/signup', keys.anon, { email, password }),
        post('/recover', keys.anon, { email }),
        post('/verify', keys.anon, { type: 'signup', email, token: '000000' }),
        post('/token?grant_type=refresh_token', keys.anon, { refresh_token: 'nonsense' }),
      ]
      await arms.ask(calls[arms.random(calls.length)] as Buffer, { address })
    }
  })
  await Promise.all(flood)
}

/** People whose sessions ended at the same time, behind one address that an attacker gets closed. */
const refreshes: Attack['run'] = async (arms) => {
  const { keys } = arms.town
  const refresh = async (token: string, address: string): Promise<string> => {
    const since = performance.now()
    const answer = await arms.ask(post('/token?grant_type=refresh_token', keys.anon, { refresh_token: token }), {
      address,
    })
    // The same token is good again for some seconds.
    if (answer === null || answer.status === 503) return token
    if (answer.status === 200) return refreshTokenOf(answer) ?? token
    arms.verdicts.fail('sessions', `${answer.status} ${answer.body.toString('utf8', 0, 200)}`, since)
    return token
  }
  const signUp = async (): Promise<string | null> => {
    const [email, password] = [`member${arms.random(1e9)}@example.com`, 'correct horse battery']
    const answer = await arms.ask(post('/signup', keys.anon, { email, password }))
    return answer === null ? null : refreshTokenOf(answer)
  }
  const signedUp = await Promise.all(Array.from({ length: 8 }, signUp))
  const tokens = signedUp.filter((token) => token !== null)
  const address = arms.address()
  const close = async (): Promise<void> => {
    const calls = ['/verify', '/token?grant_type=password'].map((path) =>
      post(path, keys.anon, {
        type: 'signup',
        email: 'nobody@example.com',
        token: '000000',
        password: 'a wrong password',
      }),
    )
    for (let call = 0; call < 60 && !arms.isOver(); call += 1) await arms.ask(calls[call % 2] as Buffer, { address })
  }
  const [, renewed] = await Promise.all([close(), Promise.all(tokens.map((token) => refresh(token, address)))])
  const again = await Promise.all(renewed.map((token) => refresh(token, address)))
  await Promise.all(again.map((token) => refresh(token, arms.address())))
}

const refreshTokenOf = ({ body }: HttpAnswer): string | null =>
  (JSON.parse(body.toString()) as { readonly refresh_token?: string }).refresh_token ?? null

export const identity = (standing: StandingKey): readonly Attack[] => [
  {
    name: 'tokens of all kinds',
    does: 'tokens that were never seen, forged, expired, of unknown keys and of 15 KB',
    relaxes: {},
    run: tokens,
  },
  {
    name: 'renegotiated keys',
    does: 'the keys that sign tokens are changed three times a second',
    relaxes: {},
    run: rotation(standing),
  },
  {
    name: 'sign-ins',
    does: '16 addresses sign in, sign up, recover and guess until they are closed',
    relaxes: {},
    run: signIns,
  },
  {
    name: 'expired sessions behind a closed address',
    does: 'eight people refresh their sessions at once from an address that a stranger gets closed',
    leastMs: 6_000,
    relaxes: {},
    run: refreshes,
  },
]
