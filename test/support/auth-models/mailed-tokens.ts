import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Answer } from '../auth.ts'
import { command, restart, type Step } from './commands.ts'
import { atOnce, type Project } from './project.ts'

/** The content of one mail, by spec/auth.md 9.2. */
interface Mailed {
  readonly code: string
  readonly link: string
}

export interface Slot {
  /** Null: nothing, or it is spent. */
  pending: (Mailed & { readonly guesses: number; readonly old: boolean }) | null
  readonly dead: Mailed[]
  /** The address is confirmed, and no further mail arrives. */
  over: boolean
}

export interface Mailbox {
  readonly project: Project
  readonly address: string
  /** Asks for a mail, the first or another. */
  readonly ask: (kind: MailKind) => Promise<Answer>
}

type SlotStep = Step<Slot, Mailbox>

interface Scene {
  /** Kinds of mail that share the slot. */
  readonly kinds: readonly [MailKind, ...MailKind[]]
  /** The types under which a client may send the mail's code or link. */
  readonly types: readonly string[]
  /** True: once spent, there is nothing left to mail. */
  readonly once: boolean
}

export type MailKind = 'confirmation' | 'invite' | 'recovery' | 'magic_link' | 'email_change'

/** The five kinds by the slots that they share. */
export const scenes: Readonly<Record<'confirmation' | 'invite' | 'recovery' | 'email change', Scene>> = {
  confirmation: { kinds: ['confirmation'], types: ['signup', 'email'], once: true },
  invite: { kinds: ['invite'], types: ['invite', 'signup', 'email'], once: true },
  recovery: { kinds: ['recovery', 'magic_link'], types: ['recovery', 'magiclink', 'email'], once: false },
  'email change': { kinds: ['email_change'], types: ['email_change'], once: true },
}

export type SceneName = keyof typeof scenes

/** A user who has the first mail of a scene; no password is hashed on the way. */
export async function beginSlot(
  project: Project,
  scene: SceneName,
): Promise<{ readonly model: Slot; readonly real: Mailbox }> {
  const address = `${randomUUID()}@example.com`
  if (scene === 'recovery') await insertConfirmed(project, address)
  const ask = scene === 'email change' ? await asGuest(project, address) : asAnybody(project, address)
  const [model, real]: readonly [Slot, Mailbox] = [
    { pending: null, dead: [], over: false },
    { project, address, ask },
  ]
  await issue(scenes[scene].kinds[0]).take(model, real)
  return { model, real }
}

const insertConfirmed = (project: Project, address: string): Promise<unknown> =>
  project.db.query(
    `insert into auth.users (id, aud, role, email, email_confirmed_at)
    values ($1, 'authenticated', 'authenticated', $2, now())`,
    [randomUUID(), address],
  )

const asAnybody =
  (project: Project, email: string) =>
  (kind: MailKind): Promise<Answer> => {
    const path = {
      confirmation: '/otp',
      magic_link: '/otp',
      recovery: '/recover',
      invite: '/invite',
      email_change: '',
    }[kind]
    return project.call('POST', path, { body: { email }, ...(kind === 'invite' && { token: project.serviceRole }) })
  }

/** A guest gives an address; afterwards it is enough to ask for the mail once more. */
async function asGuest(project: Project, email: string): Promise<Mailbox['ask']> {
  const { body: guest } = await project.call('POST', '/signup', { body: {} })
  let asked = false
  return () => {
    const first = !asked
    asked = true
    return first
      ? project.call('PUT', '/user', { token: guest.access_token, body: { email } })
      : project.call('POST', '/resend', { body: { type: 'email_change', email } })
  }
}

const newest = async ({
  project,
  address,
}: Mailbox): Promise<Mailed & { readonly count: number; readonly kind: string }> => {
  const mails = await project.mails(address)
  const { url, code, kind } = mails[0] as (typeof mails)[0]
  return { code, link: new URL(url).searchParams.get('token') ?? '', kind, count: mails.length }
}

/** A mail takes the place of the one before, and its guesses are counted again. */
const issue = (kind: MailKind): SlotStep => ({
  name: `mail ${kind}`,
  possible: ({ over }) => !over,
  take: async (model, real) => {
    expect((await real.ask(kind)).status).toBe(200)
    const mail = await newest(real)
    expect(mail.kind).toBe(kind)
    if (model.pending !== null) model.dead.push(model.pending)
    model.pending = { code: mail.code, link: mail.link, guesses: 0, old: false }
  },
})

type Way = 'code' | 'link'

const present =
  ({ project, address }: Mailbox, type: string, way: Way, mail: Mailed) =>
  (): Promise<Answer> =>
    project.call('POST', '/verify', {
      body: way === 'code' ? { type, email: address, token: mail.code } : { type, token_hash: mail.link },
    })

const mostGuesses = 5

const refused = (answers: readonly Answer[]): void => {
  for (const { status, body } of answers) expect([status, body.error_code]).toEqual([403, 'otp_expired'])
}

function spend(model: Slot, once: boolean): void {
  if (model.pending !== null) model.dead.push(model.pending)
  model.pending = null
  model.over = once
}

/** The last mailed token, perhaps sent by several clients at once: at most one of them is accepted. */
const use = (type: string, way: Way, times: number, once: boolean): SlotStep => ({
  name: `show the ${way} as ${type}, ${times} at once`,
  possible: ({ pending }) => pending !== null,
  take: async (model, real) => {
    const pending = model.pending as NonNullable<Slot['pending']>
    const answers = await atOnce(times, present(real, type, way, pending))
    const good = answers.filter(({ status }) => status === 200)
    const isRight = !pending.old && (way === 'link' || pending.guesses < mostGuesses)
    expect(good.length).toBe(isRight ? 1 : 0)
    refused(answers.filter(({ status }) => status !== 200))
    if (isRight) {
      expect(good[0]?.body.user).toMatchObject({ email: real.address, is_anonymous: false })
      expect(good[0]?.body.user.email_confirmed_at).toBeTruthy()
      spend(model, once)
    } else if (way === 'code') model.pending = { ...pending, guesses: pending.guesses + times }
  },
})

const guess = (type: string, times: number): SlotStep => ({
  name: `guess ${times} times at once as ${type}`,
  possible: ({ pending }) => pending !== null,
  take: async (model, real) => {
    const pending = model.pending as NonNullable<Slot['pending']>
    const wrong = { ...pending, code: String((Number(pending.code) + 1) % 1_000_000).padStart(6, '0') }
    refused(await atOnce(times, present(real, type, 'code', wrong)))
    model.pending = { ...pending, guesses: pending.guesses + times }
  },
})

/** The fifth guess may still be right, the sixth is none. */
const useAtLimit = (type: string, left: 0 | 1, once: boolean): SlotStep => ({
  name: `guess until ${left} of five are left, then show the code as ${type}`,
  possible: ({ pending }) => pending !== null && !pending.old && pending.guesses + left < mostGuesses,
  take: async (model, real) => {
    const before = model.pending?.guesses ?? 0
    await guess(type, mostGuesses - left - before).take(model, real)
    await use(type, 'code', 1, once).take(model, real)
  },
})

/** The link of an earlier mail; its code costs a guess of the present one. */
const replay = (type: string, way: Way, which: number): SlotStep => ({
  name: `show an earlier ${way} as ${type}`,
  possible: ({ dead }) => dead.length > 0,
  take: async (model, real) => {
    const mail = model.dead[which % model.dead.length] as Mailed
    // One of a million codes is that of a later mail.
    if (way === 'code' && mail.code === model.pending?.code) return
    refused([await present(real, type, way, mail)()])
    if (way === 'code' && model.pending !== null) {
      model.pending = { ...model.pending, guesses: model.pending.guesses + 1 }
    }
  },
})

const expire: SlotStep = {
  name: 'the mail grows old',
  possible: ({ pending }) => pending !== null,
  take: async (model, { project }) => {
    await project.db.query(`update catalograph_auth.codes set issued_at = now() - interval '2 hours'`)
    model.pending = { ...(model.pending as NonNullable<Slot['pending']>), old: true }
  },
}

/** Whether or not the old one was in time, afterwards only the new one is good. */
const race = (kind: MailKind, type: string, way: Way): SlotStep => ({
  name: `mail ${kind} while the ${way} before is shown`,
  possible: ({ pending }) => pending !== null && !pending.old && pending.guesses < mostGuesses,
  take: async (model, real) => {
    const before = model.pending as NonNullable<Slot['pending']>
    const [mailed, shown] = await Promise.all([real.ask(kind), present(real, type, way, before)()])
    expect([mailed.status, [200, 403].includes(shown.status)]).toEqual([200, true])
    const mail = await newest(real)
    model.dead.push(before)
    // Of a code that came after the new mail one guess is gone.
    const { rows } = await real.project.db.query(
      'select c.tries from catalograph_auth.codes c join auth.users u on u.id = c.user_id where u.email = $1',
      [real.address],
    )
    const guesses = rows[0].tries
    expect(guesses).toBeLessThanOrEqual(way === 'code' && shown.status === 403 ? 1 : 0)
    model.pending = { code: mail.code, link: mail.link, guesses, old: false }
  },
})

export function slotCommands(scene: SceneName): readonly fc.Arbitrary<fc.AsyncCommand<Slot, Mailbox>>[] {
  const { kinds, types, once } = scenes[scene]
  const kind = fc.constantFrom(...kinds)
  const type = fc.constantFrom(...types)
  const way = fc.constantFrom<Way>('code', 'link')
  const mailing = kind.map((one) => command(issue(one)))
  const using = fc
    .tuple(type, way, fc.constantFrom(1, 1, 4))
    .map(([as, by, times]) => command(use(as, by, times, once)))
  const guessing = fc.tuple(type, fc.constantFrom(1, 4, 7)).map(([as, times]) => command(guess(as, times)))
  const limit = fc.tuple(type, fc.constantFrom<0 | 1>(0, 1)).map(([as, left]) => command(useAtLimit(as, left, once)))
  const replaying = fc.tuple(type, way, fc.nat(5)).map(([as, by, which]) => command(replay(as, by, which)))
  const racing = fc.tuple(kind, type, way).map(([one, as, by]) => command(race(one, as, by)))
  const others = fc.constantFrom(expire, restart<Slot, Mailbox>()).map(command)
  return [mailing, mailing, using, guessing, limit, replaying, others, ...(once ? [] : [racing])]
}
