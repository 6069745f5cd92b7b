import { AuthFailure, refuse } from '../protocol/errors.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import type { NewMail } from '../store/outbox.ts'
import { createDurations } from './durations.ts'
import { mailKinds, type MailKind } from './kinds.ts'
import { plainText } from './plain-text.ts'
import { isPassing, type MailServer } from './smtp.ts'

/** A mail in the outbox. */
export interface Posted extends NewMail {
  readonly id: string
  readonly kind: MailKind
}

/** Communication with the mail server. Its functions throw 500 `unexpected_failure` in the words of the mail's kind. */
export interface HandOver {
  /** Delivers all of them, and records which the server has accepted, also if another fails. */
  readonly deliver: (settings: AuthSettings, mails: readonly Posted[], taken: Set<Posted>) => Promise<void>
  /** Instead of a delivery: fails like the last failure, and takes as long as a delivery. */
  readonly pretend: (mails: readonly Posted[]) => Promise<void>
  /** Connects and signs in. */
  readonly check: (kind: MailKind) => Promise<void>
}

/** How long a refusal applies to all mails, unless a mail is accepted before. */
const moodMs = 60_000

interface Refusal {
  readonly cause: unknown
  readonly at: number
}

/** `from`: sender; null: one at the host of the project's own address. */
export function createHandOver(server: MailServer, from: string | null): HandOver {
  const durations = createDurations()
  let refusal: Refusal | null = null
  const check: HandOver['check'] = (kind) =>
    server.knock().catch((cause: unknown) => {
      throw failure(kind, cause)
    })
  const deliverOne = async (sender: string, mail: Posted): Promise<unknown> => {
    const { recipient, subject, html, kind } = mail
    const began = performance.now()
    try {
      await server.deliver({ from: sender, recipient, subject, html, text: await plainText(html) })
      refusal = null
      return null
    } catch (cause) {
      refusal = { cause, at: performance.now() }
      return failure(kind, cause)
    } finally {
      durations.note(kind, performance.now() - began)
    }
  }
  return {
    check,
    deliver: async (settings, mails, taken) => {
      const sender = from ?? `no-reply@${new URL(settings.external_url).hostname}`
      const failures = await Promise.all(mails.map((mail) => deliverOne(sender, mail)))
      for (const [index, mail] of mails.entries()) if (failures[index] === null) taken.add(mail)
      const failed = failures.find((one) => one !== null)
      if (failed !== undefined) throw failed
    },
    pretend: async (mails) => {
      const began = performance.now()
      for (const { kind } of mails) {
        await check(kind)
        await durations.wait(kind, began)
        // A server that accepts no mail at all would otherwise reveal for which addresses it was asked.
        if (refusal !== null && performance.now() - refusal.at < moodMs) throw failure(kind, refusal.cause)
      }
    },
  }
}

/** Whether a failure is transient (RFC 5321 section 4.2.1). */
export function isPutOff(error: unknown): boolean {
  if (!(error instanceof AuthFailure) || error.code !== 'unexpected_failure') return false
  return isPassing(error.cause)
}

const failure = (kind: MailKind, cause: unknown): Error =>
  refuse('unexpected_failure', { message: mailKinds[kind].failure, cause })
