import { createHmac, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunStatement } from '../../db/pool/statements.ts'
import { refuse, AuthFailure } from '../protocol/errors.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { beginCooldown, endCooldown, type Begun } from '../store/throttles.ts'
import { secondsUntilMails, type NewMail } from '../store/outbox.ts'
import { mailKinds, type MailKind } from './kinds.ts'
import { plainText } from './plain-text.ts'
import { isPassing, type MailServer } from './smtp.ts'

/** Cooldown of a mailbox and ceiling of the project (spec/auth.md 4.11). */

export interface Recipient {
  readonly kind: MailKind
  readonly recipient: string
}

/** The key of an address in the table, from which a reader cannot derive the address. */
export function addressKey(projectSecret: string): Buffer {
  return createHmac('sha256', projectSecret).update('catalograph mail cooldowns').digest()
}

const cooldownOf = (key: Buffer, { kind, recipient }: Recipient): Omit<Begun, 'sentAt'> => ({
  kind: mailKinds[kind].cooldown,
  address: createHmac('sha256', key).update(recipient).digest('hex'),
})

/** Whether the cooldown of a mail is among those. */
export function isHeld(key: Buffer, recipient: Recipient, held: readonly Begun[]): boolean {
  const { kind, address } = cooldownOf(key, recipient)
  return held.some((one) => one.kind === kind && one.address === address)
}

/**
 * Begins the cooldowns of all mails of a call, in one order for all calls, so that calls wait for each other and never
 * deadlock. Throws 429 `over_email_send_rate_limit`.
 */
export async function beginCooldowns(
  run: RunStatement,
  key: Buffer,
  recipients: readonly Recipient[],
  { mail_cooldown: seconds }: AuthSettings,
): Promise<readonly Begun[]> {
  const wanted = recipients.map((one) => cooldownOf(key, one))
  const ordered = [...wanted].sort((a, b) => a.kind.localeCompare(b.kind) || a.address.localeCompare(b.address))
  const begun: Begun[] = []
  for (const { kind, address } of ordered) {
    const verdict = await beginCooldown(run, { kind, addressHash: Buffer.from(address, 'hex') }, seconds)
    if (verdict.kind === 'waiting') throw tooSoon(verdict.seconds)
    begun.push({ kind, address, sentAt: verdict.sentAt })
  }
  return begun
}

/** Ends cooldowns whose mail was not sent, unless they began again since. */
export async function endCooldowns(run: RunStatement, begun: readonly Begun[]): Promise<void> {
  for (const { kind, address, sentAt } of begun) {
    await endCooldown(run, { kind, addressHash: Buffer.from(address, 'hex') }, sentAt)
  }
}

const tooSoon = (seconds: number): Error =>
  refuse('over_email_send_rate_limit', {
    message: `For security purposes, you can only request this after ${seconds} seconds.`,
    retryAfter: seconds,
  })

/** The parts of the ceiling that one source address may use, and that mails to newcomers leave. */
const partOfSource = 1 / 3
const partOfAccounts = 1 / 3

/** A change of address sends two mails. */
const mostOfCall = 2

/**
 * Throws 429 `over_email_send_rate_limit` if these mails exceed the ceiling of the project, the part of their source, or
 * that of newcomers: sign-ups leave a part to mails for accounts, such as recoveries (spec/auth.md 4.11).
 * @param source null: an administrator's
 * @param request one that is counted already, and now gets its mails
 */
export async function checkCeiling(
  run: RunStatement,
  recipients: readonly Recipient[],
  { mail_ceiling: all }: AuthSettings,
  source: string | null,
  request: string | null,
): Promise<void> {
  const seconds = await secondsUntilMails(
    run,
    {
      mails: recipients.length,
      toNewcomers: recipients.filter(({ kind }) => kind === 'confirmation').length,
      source,
      most: {
        all,
        ofSource: Math.max(mostOfCall, Math.ceil(all * partOfSource)),
        toNewcomers: all - Math.floor(all * partOfAccounts),
      },
    },
    request,
  )
  if (seconds !== null) throw refuse('over_email_send_rate_limit', { retryAfter: seconds })
}

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
  readonly check: (kind: MailKind) => Promise<void>
}

/** How long a refusal applies to all mails, unless a mail is accepted before. */
const moodMs = 60_000

/** `from`: sender; null: one at the host of the project's own address. */
export function createHandOver(server: MailServer, from: string | null): HandOver {
  const durations = createDurations()
  let refusal: { readonly cause: unknown; readonly at: number } | null = null
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

/**
 * The durations of the last mails of each kind, so that calls without a mail can take as long (spec/auth.md, attack
 * 22).
 */
interface Durations {
  readonly note: (kind: MailKind, ms: number) => void
  /** Resolves when the time since `began` equals the duration of one of the last mails. */
  readonly wait: (kind: MailKind, began: number) => Promise<void>
}

const remembered = 64
/** Before the first mail of a process. */
const firstMs = 12

function createDurations(): Durations {
  const known = new Map<MailKind, number[]>()
  const pick = (kind: MailKind): number => {
    const list = known.get(kind) ?? []
    return list.length === 0 ? firstMs : (list[randomInt(list.length)] ?? firstMs)
  }
  return {
    note: (kind, ms) => {
      const list = known.get(kind) ?? []
      known.set(kind, [...list, ms].slice(-remembered))
    },
    wait: async (kind, began) => {
      const left = began + pick(kind) - performance.now()
      if (left > 0) await sleep(left)
    },
  }
}
