import { call } from '../auth.ts'
import type { TestDatabase } from '../database.ts'
import { mailedSlots, type MailedSlot, type Person } from './person.ts'
import type { Event, Place, Played } from './play.ts'
import { isRecent, type Shown, type Step } from './steps.ts'

/**
 * Invariants of every order of the steps (spec/auth.md 5.5, 5.7, 7 and 9.2). A request may be taken for before or after
 * those that it overlaps, never for before one that had ended when it began.
 */

/** A session of the person; those from the start were born before everything. */
interface Known {
  readonly id: string
  readonly began: number
  readonly ended: number
  /** Refresh tokens that its clients received, the last one last. */
  readonly tokens: readonly string[]
  readonly access: string
}

interface Case extends Played {
  readonly person: Person
  readonly sessions: readonly Known[]
}

/** The final state of the database: the tokens of each session that are not revoked. */
interface Left {
  readonly email: string
  readonly live: ReadonlyMap<string, readonly string[]>
}

/** The broken laws; a correct run has none. */
export async function judge(
  place: Place,
  db: TestDatabase,
  person: Person,
  played: Played,
): Promise<readonly string[]> {
  const one: Case = { ...played, person, sessions: sessionsOf(person, played.events) }
  const left = await readLeft(db, person)
  return [
    ...one.events.flatMap((event) => judgeAnswer(one, event)),
    ...one.sessions.flatMap((session) => judgeSession(one, session, left)),
    ...mailedSlots.flatMap((slot) => judgeSlot(one, slot)),
    ...judgeFactor(one),
    ...judgeAddress(one, left),
    ...judgeStrangers(one, left),
    ...(await probe(place, one, left)),
  ]
}

const when = (broken: boolean, law: string): readonly string[] => (broken ? [law] : [])

function sessionsOf(person: Person, events: readonly Event[]): readonly Known[] {
  const told = (id: string): readonly Event[] => events.filter(({ given }) => given?.session === id)
  const known = (
    id: string,
    first: readonly string[],
    access: string,
    born: { began: number; ended: number },
  ): Known => {
    const given = told(id).flatMap((event) => event.given ?? [])
    return { ...born, id, tokens: [...first, ...given.map(({ refresh }) => refresh)], access }
  }
  return [
    ...person.sessions.map(({ id, first, access }) => known(id, [first], access, { began: 0, ended: 0 })),
    ...events.flatMap(({ step, given, began, ended }) =>
      step.kind === 'verify' && given !== null ? [known(given.session, [], given.access, { began, ended })] : [],
    ),
  ]
}

async function readLeft(db: TestDatabase, { id }: Person): Promise<Left> {
  const { rows } = await db.query(
    `select u.email, s.id,
      array(select t.token::text from auth.refresh_tokens t where t.session_id = s.id and not t.revoked) as live
    from auth.users u left join auth.sessions s on s.user_id = u.id where u.id = $1`,
    [id],
  )
  const sessions = rows.filter((row) => row.id !== null)
  return { email: rows[0].email, live: new Map(sessions.map((row) => [row.id, row.live])) }
}

type Named = Pick<Known, 'id'>

/** Whether this is what ended the session, if it was there. A token that was spent lately ends nothing. */
function ends({ step, session, status, code }: Event, { id }: Named): boolean {
  switch (step.kind) {
    case 'sign-out':
      if (status !== 204) return false
      return step.scope === 'global' || (step.scope === 'local') === (session === id)
    case 'step-up':
      return status === 200 && session !== id
    case 'refresh':
      return session === id && !isRecent(step.shows) && code === 'refresh_token_already_used'
    case 'guess':
    case 'look':
    case 'recover':
    case 'verify':
      return false
  }
}

const raised = ({ events }: Case, { id }: Named): boolean =>
  events.some(({ step, session, status }) => step.kind === 'step-up' && session === id && status === 200)

/** Those that leave nothing of the session; a step-up spares what was raised too. */
const endsForSure = (one: Case, session: Known, event: Event): boolean =>
  ends(event, session) && event.began >= session.ended && !(event.step.kind === 'step-up' && raised(one, session))

const endings = ({ events }: Case, session: Named): readonly Event[] => events.filter((event) => ends(event, session))

function judgeSession(one: Case, session: Known, { live }: Left): readonly string[] {
  const tokens = live.get(session.id)
  const mayBeGone = endings(one, session).some(({ ended }) => ended > session.began)
  const mustBeGone = one.events.some((event) => endsForSure(one, session, event))
  return [
    ...when(tokens === undefined && !mayBeGone, 'a session is lost that nobody ended'),
    ...when(tokens !== undefined && mustBeGone, 'a session is there that was ended'),
    ...when(tokens !== undefined && tokens.length !== 1, `a session has ${tokens?.length} live tokens`),
    ...when(tokens?.some((token) => !session.tokens.includes(token)) === true, 'a live token was told to nobody'),
  ]
}

const judgeStrangers = ({ sessions }: Case, { live }: Left): readonly string[] =>
  when(
    [...live.keys()].some((id) => !sessions.some((session) => session.id === id)),
    'there is a session that nobody was given',
  )

/** Status and code of every answer that a step may have. */
const answers: Readonly<Record<Step['kind'], readonly string[]>> = {
  refresh: ['200', '400 refresh_token_already_used', '400 refresh_token_not_found', '400 session_not_found'],
  look: ['200', '403 session_not_found'],
  'sign-out': ['204', '403 session_not_found'],
  'step-up': ['200', '403 session_not_found', '422 mfa_verification_rejected', '422 mfa_verification_failed'],
  verify: ['200', '200 proceed', '403 otp_expired'],
  guess: ['403 otp_expired'],
  recover: ['200'],
}

function judgeAnswer(one: Case, event: Event): readonly string[] {
  const { step, status, code } = event
  const answer = code === null ? String(status) : `${status} ${code}`
  const session = one.sessions.find(({ id }) => id === event.session)
  return [
    ...when(!answers[step.kind].includes(answer), `${step.kind} was answered ${answer}`),
    ...(session === undefined ? [] : judgeOfSession(one, session, event)),
    ...(step.kind === 'refresh' ? judgeRefresh(one, event, step.shows) : []),
  ]
}

const isGood = ({ status }: Event): boolean => status < 300
const saysGone = ({ code }: Event): boolean => code === 'session_not_found' || code === 'refresh_token_not_found'

function judgeOfSession(one: Case, session: Known, event: Event): readonly string[] {
  const over = one.events.some((other) => endsForSure(one, session, other) && other.ended < event.began)
  const mayBeOver = endings(one, session).some((other) => other !== event && other.began < event.ended)
  return [
    ...when(isGood(event) && over, `${event.step.kind} worked after the session had been ended`),
    ...when(saysGone(event) && !mayBeOver, `${event.step.kind} missed a session that nobody ended`),
  ]
}

function judgeRefresh(one: Case, event: Event, shows: Shown): readonly string[] {
  const { events, person } = one
  const before = events.filter(
    (other) => other !== event && other.session === event.session && other.began < event.ended,
  )
  const stepped = before.some(({ step, status }) => step.kind === 'step-up' && status === 200)
  const parents = person.sessions.map(({ parent }) => parent)
  const rotated = before.some(
    ({ step, status, shown }) => step.kind === 'refresh' && status === 200 && !parents.includes(shown),
  )
  const isUsed = event.code === 'refresh_token_already_used'
  return [
    ...when(shows === 'old' && isGood(event), 'a token of long ago was taken'),
    ...when(isRecent(shows) && isUsed && !stepped, 'an honest client was refused'),
    ...when(shows === 'parent' && isUsed && !stepped && !rotated, 'a client whose answer was lost was refused'),
    ...when(event.given !== null && levelOf(one, event.shown) !== event.given.aal, 'a refresh changed the level'),
  ]
}

/** The level at which a token was issued; what was there at the start is of the first. */
const levelOf = ({ events }: Case, token: string): unknown =>
  events.find(({ given }) => given?.refresh === token)?.given?.aal ?? 'aal1'

type Attempt = Event & { readonly step: { readonly kind: 'verify' | 'guess'; readonly slot: MailedSlot } }

const mostTries = 5

function judgeSlot(one: Case, slot: MailedSlot): readonly string[] {
  const attempts = one.events.filter((event): event is Attempt => 'slot' in event.step && event.step.slot === slot)
  const right = attempts.filter(({ step }) => step.kind === 'verify')
  const good = right.filter(isGood)
  const replaced = one.events.filter(({ step }) => step.kind === 'recover' && slot === 'recovery')
  const cleared = one.events.filter(isSignOutEverywhere)
  const { tries } = one.person.mailed[slot]
  const isLink = ({ step }: Event): boolean => step.kind === 'verify' && step.by === 'link'
  const guesses = attempts.filter((event) => !isLink(event)).length
  const undisturbed = replaced.length === 0 && cleared.length === 0 && !(slot === 'recovery' && hasMoved(one))
  const enough = right.some(isLink) || tries + guesses <= mostTries
  const isAfter = (event: Event, others: readonly Event[]): boolean => others.some(({ ended }) => ended < event.began)
  const late = good.some((event) => isAfter(event, replaced))
  return [
    ...when(good.length > 1, `${slot} was spent ${good.length} times`),
    ...when(late, `${slot} was taken after another mail`),
    ...when(
      good.some((event) => isAfter(event, cleared)),
      `${slot} was taken after a sign-out everywhere`,
    ),
    ...when(tries === mostTries && good.some((event) => !isLink(event)), `${slot} was taken after five wrong guesses`),
    ...when(right.length > 0 && good.length === 0 && undisturbed && enough, `${slot} was right and never taken`),
  ]
}

/** It clears mailed links and a pending change of address (spec/auth.md 5.5). */
const isSignOutEverywhere = (event: Event): boolean =>
  event.step.kind === 'sign-out' && event.step.scope === 'global' && isGood(event)

const isChange = ({ step }: Event): boolean => step.kind === 'verify' && step.slot !== 'recovery'
const hasMoved = ({ events }: Case): boolean => events.some((event) => isChange(event) && event.given !== null)

/** Both mailboxes, whichever comes first, and only one of them gets the session. */
function judgeAddress(one: Case, { email }: Left): readonly string[] {
  const good = one.events.filter((event) => isChange(event) && isGood(event))
  const finished = good.filter(({ given }) => given !== null).length
  const wanted = hasMoved(one) ? one.person.newEmail : one.person.email
  return [
    ...when(finished !== (good.length === 2 ? 1 : 0), `${good.length} mailboxes confirmed and ${finished} finished`),
    ...when(email !== wanted, 'the address is not what was answered'),
  ]
}

function judgeFactor({ events }: Case): readonly string[] {
  const tried = events.filter(({ step }) => step.kind === 'step-up')
  const good = tried.filter(isGood)
  const codes = new Set(good.map(({ shown }) => shown))
  const atEase = events.every(
    ({ step }) => step.kind !== 'sign-out' && !(step.kind === 'refresh' && !isRecent(step.shows)),
  )
  const present = tried.some(({ step }) => step.kind === 'step-up' && step.skew === 0)
  return [
    ...when(codes.size < good.length, 'a code of the factor was taken twice'),
    ...when(present && atEase && good.length === 0, 'the code of the factor was right and never taken'),
  ]
}

/** Both processes are asked once more, after all other steps: by the live token, or by its remains. */
async function probe({ instances, anon }: Place, { sessions }: Case, { live }: Left): Promise<readonly string[]> {
  const probes = sessions.map(async ({ id, tokens, access }, index): Promise<readonly string[]> => {
    const { url } = instances[index % 2] as Place['instances'][0]
    const refresh = async (refresh_token: string | undefined): Promise<number> =>
      (await call(url, anon, 'POST', '/token?grant_type=refresh_token', { body: { refresh_token } })).status
    const [current] = live.get(id) ?? []
    if (current !== undefined) return when((await refresh(current)) !== 200, 'a live token is good for nothing')
    const looked = await call(url, anon, 'GET', '/user', { token: access })
    const refreshed = await refresh(tokens.at(-1))
    return when(looked.status !== 403 || refreshed !== 400, 'a session that is gone is good for something')
  })
  return (await Promise.all(probes)).flat()
}
