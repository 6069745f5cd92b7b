import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StatementsDatabase } from '../../db/pool/statements.ts'
import type { Actor, Registration } from '../call/call.ts'
import { AuthFailure } from '../protocol/errors.ts'
import { endCooldowns, isPutOff } from './hand-over.ts'
import type { MailKind } from './kinds.ts'
import type { Mailer } from './mailer.ts'
import type { ReadAuthState } from '../settings/store.ts'
import { deleteMailRequest, insertMailRequest, putOffMailRequest, takeMailRequests } from '../store/mail-requests.ts'
import type { MailRequest, MailRequestKind, StoredRequest } from '../store/mail-requests.ts'
import type { WhereReady } from '../schema/migrate.ts'

/**
 * Requests for mails that are answered before accounts are looked up: such an answer reveals nothing about an account
 * (spec/auth.md, attacks 21 and 22).
 *
 * Two rules of the specification conflict here. spec/auth.md 9.3 wants 500 if a mail is not accepted; spec/auth.md 4.9
 * wants 200 for known and unknown addresses, and a mail is only sent if there is an account. The answer therefore
 * depends only on facts without an account: whether the mail server accepts mails, the cooldown and the ceiling, which
 * give the same 500 or 429 for every address. A mail that the server defers after that is made again, with a new code,
 * after pauses that equal the request's age. A refused one leaves everything unchanged, its cooldown too, and is
 * logged; the person asks again.
 */
export interface MailRequests {
  /**
   * Accepts a request for a call, and stores it in the call's `database`. Begins the cooldowns of all possible kinds of
   * its mail, so that later calls are answered alike too. Throws 429 and 500 as Mailer does.
   */
  readonly accept: (call: Actor, database: StatementsDatabase, request: Omit<MailRequest, 'client'>) => Promise<void>
  /** Begins no more work; resolves when the current work has ended. */
  readonly stop: () => Promise<void>
}

export type ActOnRequest = (kind: MailRequestKind, call: Actor, mailer: Mailer, input: Registration) => Promise<void>

export interface MailRequestParts {
  readonly database: StatementsDatabase
  readonly whereReady: WhereReady
  readonly mailer: Mailer
  readonly state: ReadAuthState
  readonly act: ActOnRequest
  /** Receives the failures of mails that were not sent. */
  readonly failed: (error: unknown) => void
}

/** The possible mails of each kind; the first one's words are those of a refusal. */
const mailsOf: Readonly<Record<MailRequestKind, readonly [MailKind, ...MailKind[]]>> = {
  recovery: ['recovery'],
  'sign-in': ['magic_link', 'confirmation'],
  confirmation: ['confirmation'],
  'email-change': ['email_change'],
}

/** The work begins at a random time after the answer, so that it does not affect the next request measurably. */
const longestPauseMs = 250

const lookEveryMs = 5_000

export function createMailRequests(parts: MailRequestParts): MailRequests {
  const { database, mailer, whereReady } = parts
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()
  const begin = (request: StoredRequest): void => {
    const work = sleep(randomInt(longestPauseMs), undefined, { signal: stopping.signal })
      .catch(() => undefined)
      .then(() => answerMailRequest(parts, request))
      .finally(() => running.delete(work))
    running.add(work)
  }
  const looking = setInterval(() => {
    const looked = whereReady('mail_requests', () => takeMailRequests(database.run))
    // While the database is unavailable there is nothing to find.
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
        const begun = await mailer.on({ source: client.source }).reserve(run, settings, mails, input.email)
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

/** Work left undone because of the database stays in its table. Never rejects. */
async function answerMailRequest(parts: MailRequestParts, request: StoredRequest): Promise<void> {
  const { database } = parts
  const { id, begun } = request
  try {
    const failure = await mailFailure(parts, request)
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

async function mailFailure(
  { act, mailer, state }: MailRequestParts,
  { id, begun, kind, input, client }: StoredRequest,
): Promise<{ readonly error: unknown } | null> {
  const now = await state()
  if (now.kind === 'disabled') return null
  try {
    await act(
      kind,
      { settings: now.settings, client },
      mailer.on({ request: { id, begun }, source: client.source }),
      input,
    )
    return null
  } catch (error) {
    return { error }
  }
}

/** A refusal that the call would have answered is not a failure of the service. */
const isRefusal = (error: unknown): boolean => error instanceof AuthFailure && error.status < 500
