import { call, claimsOf, type Answer, type CallOptions } from '../auth.ts'
import { codeOf } from '../totp.ts'
import { actorHeader, type Instance } from '../auth-instance.ts'
import type { Person } from './person.ts'
import type { Stage } from './stage.ts'
import type { Plan, Step } from './steps.ts'

/** A request and its answer; one that ended before another began really came before it. */
export interface Event {
  readonly step: Step
  /** Session that the step was of. */
  readonly session: string | null
  readonly began: number
  readonly ended: number
  /** Refresh token or code that was shown. */
  readonly shown: string
  readonly status: number
  readonly code: string | null
  /** The session that was answered. */
  readonly given: Given | null
}

export interface Given {
  readonly session: string
  readonly refresh: string
  readonly access: string
  readonly aal: unknown
}

export interface Played {
  readonly events: readonly Event[]
  /** The clients in the order of their steps, with the statement of each. */
  readonly order: readonly string[]
}

export interface Place {
  readonly instances: readonly [Instance, Instance]
  readonly anon: string
  readonly stage: Stage
}

/** The state that all tabs of one application share. */
interface Held {
  refresh: string
  access: string
}

type Ask = (method: string, path: string, options?: CallOptions) => Promise<Answer>

interface Acting {
  readonly person: Person
  readonly held: readonly Held[]
  readonly ask: Ask
}

interface Done {
  readonly shown: string
  readonly answer: Answer
}

/** Every client does its steps, on one of two processes, while others do theirs. Null: they took too long. */
export async function play(
  place: Place,
  person: Person,
  plan: Plan,
  pick: (below: number) => number,
): Promise<Played | null> {
  const events: Event[] = []
  const held = person.sessions.map(({ first, access }): Held => ({ refresh: first, access }))
  let clock = 0
  const client = (steps: readonly Step[], actor: number) => async (): Promise<void> => {
    const ask = askAs(place, actor)
    for (const step of steps) {
      await place.stage.pause(actor, step.kind)
      const began = (clock += 1)
      const { shown, answer } = await act({ person, held, ask }, step)
      const given = givenBy(answer)
      if (given !== null && 'session' in step) Object.assign(held[step.session] as Held, given)
      events.push({
        step,
        session: 'session' in step ? (person.sessions[step.session]?.id ?? null) : null,
        began,
        ended: (clock += 1),
        shown,
        given,
        ...verdictOf(answer),
      })
    }
  }
  const order = await place.stage.play(plan.clients.map(client), pick)
  return order === null ? null : { events, order }
}

const askAs =
  ({ instances, anon }: Place, actor: number): Ask =>
  (method, path, options = {}) => {
    const { url } = instances[actor % 2] as Instance
    return call(url, anon, method, path, { ...options, headers: { [actorHeader]: String(actor) } })
  }

const verdictOf = ({ status, body }: Answer): Pick<Event, 'status' | 'code'> => ({
  status,
  code: body?.error_code ?? (body?.msg === undefined ? null : 'proceed'),
})

function givenBy({ status, body }: Answer): Given | null {
  if (status !== 200 || body.access_token === undefined) return null
  const { session_id, aal } = claimsOf(body.access_token)
  return { session: String(session_id), refresh: body.refresh_token, access: body.access_token, aal }
}

function act(acting: Acting, step: Step): Promise<Done> {
  switch (step.kind) {
    case 'refresh':
      return refresh(acting, step)
    case 'look':
      return asHolder(acting, step.session, 'GET', '/user')
    case 'sign-out':
      return asHolder(acting, step.session, 'POST', `/logout?scope=${step.scope}`)
    case 'step-up':
      return stepUp(acting, step)
    case 'verify':
      return verify(acting, step)
    case 'guess':
      return guess(acting, step)
    case 'recover':
      return unshown(acting.ask('POST', '/recover', { body: { email: acting.person.email } }))
  }
}

const unshown = async (answer: Promise<Answer>): Promise<Done> => ({ shown: '', answer: await answer })

type Of<K extends Step['kind']> = Extract<Step, { readonly kind: K }>

async function refresh({ person, held, ask }: Acting, { session, shows }: Of<'refresh'>): Promise<Done> {
  const shown = shows === 'latest' ? held[session]?.refresh : person.sessions[session]?.[shows]
  const answer = await ask('POST', '/token?grant_type=refresh_token', { body: { refresh_token: shown } })
  return { shown: shown ?? '', answer }
}

async function asHolder({ held, ask }: Acting, session: number, method: string, path: string): Promise<Done> {
  const { access = '' } = held[session] ?? {}
  return { shown: access, answer: await ask(method, path, { token: access }) }
}

async function stepUp({ person, held, ask }: Acting, { session, skew }: Of<'step-up'>): Promise<Done> {
  const { access = '' } = held[session] ?? {}
  const code = codeOf(person.factor.secret, skew)
  const challenge = await ask('POST', `/factors/${person.factor.id}/challenge`, { token: access })
  if (challenge.status !== 200) return { shown: code, answer: challenge }
  const body = { challenge_id: challenge.body.id, code }
  return { shown: code, answer: await ask('POST', `/factors/${person.factor.id}/verify`, { token: access, body }) }
}

const typeOf = { recovery: 'recovery', email_change_current: 'email_change', email_change_new: 'email_change' } as const

async function verify({ person, ask }: Acting, { slot, by }: Of<'verify'>): Promise<Done> {
  const { address, code, token } = person.mailed[slot]
  const shown = by === 'code' ? { email: address, token: code } : { token_hash: token }
  return { shown: code, answer: await ask('POST', '/verify', { body: { type: typeOf[slot], ...shown } }) }
}

async function guess({ person, ask }: Acting, { slot }: Of<'guess'>): Promise<Done> {
  const { address, code } = person.mailed[slot]
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
  return unshown(ask('POST', '/verify', { body: { type: typeOf[slot], email: address, token: wrong } }))
}
