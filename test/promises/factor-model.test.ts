import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { claimsOf, startAuthServer, type Answer } from '../support/auth.ts'
import { forSuite } from '../support/for-suite.ts'
import { codeOf, enrol, verify, type Enrolled } from '../support/totp.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' } })

/** One person with one session, and what it must be by the specification. */
interface Model {
  /** Null: no factor is enrolled. */
  readonly factor: (Enrolled & { readonly verified: boolean }) | null
  readonly lastStep: number
  readonly level: 'aal1' | 'aal2'
}

interface Real {
  token: string
  refresh: string
}

type Step = (model: Model, real: Real) => Promise<Model>

const keep = (real: Real, { status, body }: Answer): void => {
  expect(status).toBe(200)
  real.token = body.access_token
  real.refresh = body.refresh_token
}

const enrolling: Step = async (model, real) => {
  const body = { factor_type: 'totp' }
  if (model.factor?.verified === true) {
    const answer = await server.call('POST', '/factors', { token: real.token, body })
    if (model.level === 'aal1') expect(answer.body.error_code).toBe('insufficient_aal')
    else await server.call('DELETE', `/factors/${answer.body.id}`, { token: real.token })
    return model
  }
  return { ...model, factor: { ...(await enrol(server, real.token)), verified: false }, lastStep: 0 }
}

const presentStep = (): number => Math.floor(Date.now() / 30_000)

/** Shows the code of a time step near the present one, perhaps in several requests at once. */
const verifying =
  (skew: number, times: number): Step =>
  async (model, real) => {
    const { factor } = model
    if (factor === null) return model
    const step = presentStep() + skew
    const attempt = { token: real.token, factor, code: codeOf(factor.secret, skew) }
    const answers = await Promise.all(Array.from({ length: times }, () => verify(server, attempt)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won.length).toBe(Math.abs(skew) <= 1 && step > model.lastStep ? 1 : 0)
    for (const { status, body } of answers) if (status !== 200) expect(body.error_code).toMatch(/^mfa_verification_/)
    if (won[0] === undefined) return model
    keep(real, won[0])
    return { factor: { ...factor, verified: true }, lastStep: step, level: 'aal2' }
  }

const refreshing: Step = async (model, real) => {
  keep(real, await server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token: real.refresh } }))
  expect(claimsOf(real.token)['aal']).toBe(model.level)
  return model
}

const removing: Step = async (model, real) => {
  if (model.factor === null) return model
  const answer = await server.call('DELETE', `/factors/${model.factor.id}`, { token: real.token })
  if (model.factor.verified && model.level === 'aal1') {
    expect(answer.body.error_code).toBe('insufficient_aal')
    return model
  }
  expect(answer.status).toBe(200)
  return refreshing({ factor: null, lastStep: 0, level: 'aal1' }, real)
}

/** No code was guessed yet. */
const waiting: Step = async (model) => {
  await server.db.query('truncate catalograph_auth.factor_guesses, catalograph_auth.session_guesses')
  return model
}

const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(enrolling) },
    {
      weight: 5,
      arbitrary: fc.tuple(fc.constantFrom(-4, 0, 0, 1), fc.constantFrom(1, 1, 3)).map(
        ([skew, times]): Step =>
          async (model, real) =>
            verifying(skew, times)(await waiting(model, real), real),
      ),
    },
    { weight: 2, arbitrary: fc.constant(refreshing) },
    { weight: 1, arbitrary: fc.constant(removing) },
  ),
  { minLength: 4, maxLength: 12 },
)

/** Away from the edge of a time step, so that the model and the server mean the same one. */
async function awayFromEdge(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 2_000) await new Promise((resolve) => setTimeout(resolve, left))
}

it('a factor and its session are at every moment what the model of spec/auth.md 5.7 says', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      await awayFromEdge()
      const signUp = { email: `${randomUUID()}@example.com`, password: 'correct horse' }
      const { body } = await server.call('POST', '/signup', { body: signUp })
      const real: Real = { token: body.access_token, refresh: body.refresh_token }
      let model: Model = { factor: null, lastStep: 0, level: 'aal1' }
      for (const step of history) model = await step(model, real)
      const live = await server.db.query(
        'select token from auth.refresh_tokens where session_id = $1 and not revoked',
        [claimsOf(real.token)['session_id']],
      )
      expect(live.rows).toEqual([{ token: real.refresh }])
      const { body: user } = await server.call('GET', '/user', { token: real.token })
      const verified = (user.factors ?? []).filter(({ status }: { status: string }) => status === 'verified')
      expect(verified.length).toBe(model.factor?.verified === true ? 1 : 0)
    }),
    { numRuns: 15, endOnFailure: true },
  )
}, 60_000)
