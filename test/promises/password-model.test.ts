import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressHeader, startAuthServer } from '../support/auth.ts'
import { forSuite } from '../support/for-suite.ts'
import { sized } from '../support/whole.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on', mail_cooldown: '0' } })

const password = 'correct horse'

/** Wrong passwords of one address since its last sign-in, and the minutes since the last of them. */
interface Count {
  failures: number
  age: number
}

/** The expected state by spec/auth.md 4.4. */
interface Model {
  readonly email: string
  readonly devices: Set<number>
  known: Count
  strangers: Count
}

const none = (): Count => ({ failures: 0, age: Infinity })

/** Takes a guess, where one is left. */
function take(model: Model, device: number): boolean {
  const isKnown = model.devices.has(device)
  const count = isKnown ? model.known : model.strangers
  if (!isKnown && count.failures >= 80) return false
  const pause = isKnown && count.failures >= 20 ? 24 * 60 : Math.max(0, count.failures - 29)
  if (count.age < pause) return false
  Object.assign(count, { failures: count.failures + 1, age: 0 })
  return true
}

function signedIn(model: Model, device: number): void {
  model.devices.add(device)
  Object.assign(model, { known: none(), strangers: none() })
}

const from = (device: number) => ({ [addressHeader]: `192.0.2.${device}` })
const ask = async ({ email }: Model, device: number, given: string): Promise<number> => {
  const body = { email, password: given }
  return (await server.call('POST', '/token?grant_type=password', { body, headers: from(device) })).status
}

type Step = (model: Model) => Promise<void>

/** Wrong passwords, all at once. */
const guess =
  (device: number, times: number): Step =>
  async (model) => {
    const statuses = await Promise.all(Array.from({ length: times }, () => ask(model, device, 'wrong horse')))
    const granted = Array.from({ length: times }, () => take(model, device))
    expect(statuses.toSorted()).toEqual(granted.map((isGranted) => (isGranted ? 400 : 429)).toSorted())
  }

const wait =
  (minutes: number): Step =>
  async (model) => {
    await server.db.query(
      'update catalograph_auth.password_guesses set last_at = last_at - make_interval(mins => $1::int)',
      [minutes],
    )
    for (const count of [model.known, model.strangers]) count.age += minutes
  }

/** As an attacker does who has time. */
const grind =
  (device: number): Step =>
  async (model) => {
    for (let n = 0; n < 26; n += 1) {
      await wait(55)(model)
      await guess(device, 1)(model)
    }
  }

const signIn =
  (device: number): Step =>
  async (model) => {
    const isGranted = take(model, device)
    expect(await ask(model, device, password)).toBe(isGranted ? 200 : 429)
    if (isGranted) signedIn(model, device)
  }

const byMail =
  (device: number): Step =>
  async (model) => {
    const { email } = model
    await server.call('POST', '/recover', { body: { email }, headers: from(device) })
    const token = (await server.mails(email))[0]?.code
    const body = { type: 'recovery', email, token }
    expect((await server.call('POST', '/verify', { body, headers: from(device) })).status).toBe(200)
    signedIn(model, device)
  }

const device = fc.constantFrom(1, 2, 2, 3)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(device, fc.constantFrom(1, 3, 12, 35)).map(([who, times]) => guess(who, times)) },
  { weight: 2, arbitrary: device.map(grind) },
  { weight: 2, arbitrary: fc.constantFrom(1, 10, 60, 24 * 60).map(wait) },
  { weight: 3, arbitrary: device.map(signIn) },
  { weight: 1, arbitrary: device.map(byMail) },
)

it('attack 49: the guesses of a password are at every moment what the model of spec/auth.md 4.4 says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (history) => {
      const email = `${randomUUID()}@example.com`
      await server.call('POST', '/signup', { body: { email, password }, headers: from(1) })
      const model: Model = { email, devices: new Set([1]), known: none(), strangers: none() }
      for (const one of history) await one(model)
    }),
    { numRuns: sized(30, 4), endOnFailure: true },
  )
}, 300_000)
