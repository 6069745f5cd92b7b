import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Answer } from '../auth.ts'
import { command, restart, type Step } from './commands.ts'
import { atOnce, type Project } from './project.ts'

/** A change of an address by spec/auth.md 5.4: who must confirm it, and its effect after all confirmations. */

type Side = 'new' | 'current'

interface Mailed {
  readonly address: string
  readonly code: string
  readonly link: string
  readonly guesses: number
}

export interface Change {
  /** Null: a guest. */
  email: string | null
  wanted: string | null
  /** Mails that wait to be confirmed; those that were are gone. */
  mails: Partial<Record<Side, Mailed>>
  dead: Mailed[]
  old: boolean
  /** Another user has taken the wanted address. */
  taken: boolean
}

export interface Owner {
  readonly project: Project
  readonly rules: Rules
  readonly id: string
  readonly access: string
}

export interface Rules {
  readonly secure: boolean
  readonly autoconfirm: boolean
}

type ChangeStep = Step<Change, Owner>

const newAddress = (): string => `${randomUUID()}@example.com`

/** A guest, or a member who was one a moment ago, with a change under way. */
export async function beginChange(
  project: Project,
  rules: Rules,
  who: 'guest' | 'member',
): Promise<{ readonly model: Change; readonly real: Owner }> {
  const { body } = await project.call('POST', '/signup', { body: {} })
  const email = who === 'guest' ? null : newAddress()
  if (email !== null) {
    await project.db.query(
      'update auth.users set email = $2, email_confirmed_at = now(), is_anonymous = false where id = $1',
      [body.user.id, email],
    )
  }
  const model: Change = { email, wanted: null, mails: {}, dead: [], old: false, taken: false }
  const real: Owner = { project, rules, id: body.user.id, access: body.access_token }
  await ask.take(model, real)
  return { model, real }
}

/** The account as `GET /user` shows it after each step. */
async function checkAccount({ email, wanted }: Change, { project, access, id }: Owner): Promise<void> {
  const { body } = await project.call('GET', '/user', { token: access })
  expect([body.id, body.email, body.new_email, body.is_anonymous]).toEqual([
    id,
    email ?? undefined,
    wanted ?? undefined,
    email === null,
  ])
}

const sidesOf = ({ email }: Change, { rules }: Owner): readonly Side[] =>
  email !== null && rules.secure ? ['new', 'current'] : ['new']

/** Reads the newest mails of some sides; those before are dead. */
async function receive(model: Change, { project }: Owner, sides: readonly Side[]): Promise<void> {
  model.dead.push(...Object.values(model.mails))
  model.mails = {}
  model.old = false
  for (const side of sides) {
    const address = (side === 'new' ? model.wanted : model.email) as string
    const [mail] = await project.mails(address)
    expect(mail?.kind).toBe('email_change')
    const link = new URL(mail?.url ?? '').searchParams.get('token') ?? ''
    model.mails[side] = { address, code: mail?.code ?? '', link, guesses: 0 }
  }
}

const put = ({ project, access }: Owner, email: string): Promise<Answer> =>
  project.call('PUT', '/user', { token: access, body: { email } })

const ask: ChangeStep = {
  name: 'ask for another address',
  take: async (model, real) => {
    const email = newAddress()
    const atOnceConfirmed = model.email === null && real.rules.autoconfirm
    expect((await put(real, email)).status).toBe(200)
    Object.assign(model, atOnceConfirmed ? { email, wanted: null } : { wanted: email }, { taken: false })
    await receive(model, real, atOnceConfirmed ? [] : sidesOf(model, real))
    if (atOnceConfirmed) expect(await real.project.mails(email)).toEqual([])
    await checkAccount(model, real)
  },
}

const askTaken: ChangeStep = {
  name: 'ask for an address that somebody has',
  take: async (model, real) => {
    const email = newAddress()
    await settle(real.project, email)
    expect((await put(real, email)).body.error_code).toBe('email_exists')
    await checkAccount(model, real)
  },
}

const settle = (project: Project, email: string): Promise<unknown> =>
  project.db.query(
    `insert into auth.users (id, aud, role, email, email_confirmed_at) values ($1, 'authenticated', 'authenticated', $2, now())`,
    [randomUUID(), email],
  )

const take: ChangeStep = {
  name: 'somebody else takes the address',
  possible: ({ wanted, taken }) => wanted !== null && !taken,
  take: async (model, { project }) => {
    await settle(project, model.wanted as string)
    model.taken = true
  },
}

type Way = 'code' | 'link'

const present =
  ({ project }: Owner, way: Way, { address, code, link }: Mailed) =>
  (): Promise<Answer> => {
    const shown = way === 'code' ? { email: address, token: code } : { token_hash: link }
    return project.call('POST', '/verify', { body: { type: 'email_change', ...shown } })
  }

const mostGuesses = 5
const codesOf = (answers: readonly Answer[]): readonly unknown[] => answers.map(({ body }) => body.error_code)
const refused = (answers: readonly Answer[]): void => expect(codesOf(answers)).toEqual(answers.map(() => 'otp_expired'))

const isGood = ({ old }: Change, way: Way, { guesses }: Mailed): boolean =>
  !old && (way === 'link' || guesses < mostGuesses)

/** One mailbox confirms, perhaps in several tabs: it counts once, and as one mailbox. */
const confirm = (side: Side, way: Way, times: number): ChangeStep => ({
  name: `confirm by the ${way} of the ${side} address, ${times} at once`,
  possible: ({ mails }) => mails[side] !== undefined,
  take: async (model, real) => {
    const mail = model.mails[side] as Mailed
    const isLast = Object.keys(model.mails).length === 1
    const answers = await atOnce(model.taken && isLast ? 1 : times, present(real, way, mail))
    if (!isGood(model, way, mail)) refused(answers)
    else if (model.taken && isLast) expect(codesOf(answers)).toEqual(['email_exists'])
    else {
      const [good, ...more] = answers.filter(({ status }) => status === 200)
      expect([more, codesOf(answers).filter((code) => code === 'otp_expired').length]).toEqual([[], answers.length - 1])
      accept(model, side, isLast, good as Answer)
    }
    const left = model.mails[side]
    if (left !== undefined && way === 'code') model.mails[side] = { ...left, guesses: left.guesses + answers.length }
    await checkAccount(model, real)
  },
})

function accept(model: Change, side: Side, isLast: boolean, { body }: Answer): void {
  model.dead.push(model.mails[side] as Mailed)
  delete model.mails[side]
  expect([body.code, body.user?.email]).toEqual(isLast ? [undefined, model.wanted] : ['200', undefined])
  if (isLast) Object.assign(model, { email: model.wanted, wanted: null })
}

/** Both mailboxes at once, each in two tabs: the change happens once. */
const race: ChangeStep = {
  name: 'confirm by both at once',
  possible: ({ mails, old, taken }) => Object.keys(mails).length === 2 && !old && !taken,
  take: async (model, real) => {
    const mails = Object.values(model.mails)
    const answers = await Promise.all(mails.flatMap((mail) => [1, 2].map(present(real, 'link', mail))))
    const good = answers.filter(({ status }) => status === 200)
    expect(good.map(({ body }) => body.code ?? body.user.email).sort()).toEqual(['200', model.wanted].sort())
    model.dead.push(...mails)
    Object.assign(model, { email: model.wanted, wanted: null, mails: {} })
    await checkAccount(model, real)
  },
}

/** By the link: a code would be charged to what waits now. */
const replay = (which: number): ChangeStep => ({
  name: 'follow an earlier link',
  possible: ({ dead }) => dead.length > 0,
  take: async (model, real) => {
    refused([await present(real, 'link', model.dead[which % model.dead.length] as Mailed)()])
    await checkAccount(model, real)
  },
})

/** Only anyone who has not confirmed yet gets another mail. */
const resend: ChangeStep = {
  name: 'have the mails sent again',
  possible: ({ mails, taken }) => Object.keys(mails).length > 0 && !taken,
  take: async (model, real) => {
    const body = { type: 'email_change', email: model.email ?? model.wanted }
    expect((await real.project.call('POST', '/resend', { body })).status).toBe(200)
    await receive(model, real, Object.keys(model.mails) as readonly Side[])
    await checkAccount(model, real)
  },
}

const expire: ChangeStep = {
  name: 'the mails grow old',
  possible: ({ mails }) => Object.keys(mails).length > 0,
  take: async (model, { project, id }) => {
    await project.db.query(
      `update catalograph_auth.codes set issued_at = now() - interval '2 hours' where user_id = $1`,
      [id],
    )
    model.old = true
  },
}

const confirming = fc
  .tuple(fc.constantFrom<Side>('new', 'current'), fc.constantFrom<Way>('code', 'link'), fc.constantFrom(1, 1, 3))
  .map(([side, way, times]) => command(confirm(side, way, times)))

export const changeCommands: readonly fc.Arbitrary<fc.AsyncCommand<Change, Owner>>[] = [
  fc.constant(ask).map(command),
  confirming,
  confirming,
  fc.constant(race).map(command),
  fc.nat(5).map((which) => command(replay(which))),
  fc.constantFrom(resend, expire, take, askTaken, restart<Change, Owner>()).map(command),
]
