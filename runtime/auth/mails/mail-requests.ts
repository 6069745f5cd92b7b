import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StatementsDatabase } from '../../db/pool/statements.ts'
import type { Actor } from '../call/call.ts'
import type { Registration } from '../call/email-input.ts'
import { AuthFailure } from '../protocol/errors.ts'
import { endCooldowns } from './limits.ts'
import type { MailKind } from './kinds.ts'
import type { Mailer } from './mailer.ts'
import type { ReadAuthState } from '../settings/load.ts'
import { isPutOff } from './hand-over.ts'
import { deleteMailRequest, insertMailRequest, putOffMailRequest, takeMailRequests } from '../store/mail-requests.ts'
import type { MailRequest, MailRequestKind, StoredRequest } from '../store/mail-requests.ts'
import type { WhereReady } from '../schema/where-ready.ts'

/**
 * Calls that request a mail and are answered before accounts are looked up: an answer that precedes the look-up reveals
 * nothing about an account (spec/auth.md, attacks 21 and 22).
 *
 * Two rules of the specification conflict here. spec/auth.md 9.3 wants 500 when a mail is not taken; spec/auth.md 4.9
 * wants 200 for known and unknown addresses, and a mail is taken or not only where there is an account. The answer
 * therefore says what can be known without an account: whether the mail server takes mails, the cooldown and the
 * ceiling, which give the same 500 or 429 for every address. A mail that the server puts off after that is made again,
 * with a new code, after pauses as long as the request is old. One that is refused leaves everything as it was, its
 * cooldown too, and is logged; the person asks again.
 */
export interface MailRequests {
  /**
   * Takes a request in the name of a call, whose `database` it is kept in. Begins the cooldowns of all kinds of mail
   * that may come of it, so that later calls are answered alike too. Throws 429 and 500 as Mailer does.
   */
  readonly accept: (call: Actor, database: StatementsDatabase, request: Omit<MailRequest, 'client'>) => Promise<void>
  /** Nothing new begins; resolves when what runs has ended. */
  readonly stop: () => Promise<void>
}

/** Does what was asked for, with a mailer that knows which limits were looked at already. */
export type ActOnRequest = (kind: MailRequestKind, call: Actor, mailer: Mailer, input: Registration) => Promise<void>

export interface MailRequestParts {
  readonly database: StatementsDatabase
  readonly whereReady: WhereReady
  readonly mailer: Mailer
  readonly state: ReadAuthState
  readonly act: ActOnRequest
  /** Told of mails that were not sent. */
  readonly failed: (error: unknown) => void
}

/** Mails that may come of each kind; the first one's words are those of a refusal. */
const mailsOf: Readonly<Record<MailRequestKind, readonly [MailKind, ...MailKind[]]>> = {
  recovery: ['recovery'],
  'sign-in': ['magic_link', 'confirmation'],
  confirmation: ['confirmation'],
  'email-change': ['email_change'],
}

/** The work begins at some moment after the answer, so that what follows the answer at once does not feel it. */
const longestPauseMs = 250

const lookEveryMs = 5_000

export function createMailRequests(parts: MailRequestParts): MailRequests {
  const { database, mailer, whereReady } = parts
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const begin = (request: StoredRequest): void => {
    const work = sleep(randomInt(longestPauseMs), undefined, { signal: stopping.signal })
      .catch(() => undefined)
      .then(() => answer(parts, request))
      .finally(() => running.delete(work))
    running.add(work)
  }
  const looking = setInterval(() => {
    const looked = whereReady('mail_requests', () => takeMailRequests(database.run))
    // While the database is away there is nothing to be found.
    looked.then(
      (found) => found?.forEach(begin),
      () => undefined,
    )
  }, lookEveryMs).unref()
  return {
    accept: async ({ settings, client }, kept, { kind, input }) => {
      const mails = mailsOf[kind]
      await mailer.check(mails[0])
      const request = await kept.transaction(async (run) => {
        const begun = await mailer.reserve(run, settings, mails, input.email)
        const asked = { kind, input, client, begun }
        return { ...asked, id: await insertMailRequest(run, asked) }
      })
      begin(request)
    },
    stop: async () => {
      clearInterval(looking)
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** What is left undone because the database is away stays in its table. Never rejects. */
async function answer(parts: MailRequestParts, request: StoredRequest): Promise<void> {
  const { database } = parts
  const { id, begun } = request
  try {
    const failure = await failureOf(parts, request)
    if (failure !== null && isPutOff(failure.error) && (await putOffMailRequest(database.run, id))) {
      return parts.failed(failure.error)
    }
    await database.transaction(async (run) => {
      if (failure !== null) await endCooldowns(run, begun)
      await deleteMailRequest(run, id)
    })
    if (failure !== null && !isRefusal(failure.error)) parts.failed(failure.error)
  } catch (error) {
    parts.failed(error)
  }
}

async function failureOf(
  { act, mailer, state }: MailRequestParts,
  { id, begun, kind, input, client }: StoredRequest,
): Promise<{ readonly error: unknown } | null> {
  const now = await state()
  if (now.kind === 'disabled') return null
  try {
    await act(kind, { settings: now.settings, client }, mailer.on({ request: { id, begun } }), input)
    return null
  } catch (error) {
    return { error }
  }
}

/** A refusal that the call would have answered for good reasons is no failure of the service. */
const isRefusal = (error: unknown): boolean => error instanceof AuthFailure && error.status < 500
