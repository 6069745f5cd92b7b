import { createHmac } from 'node:crypto'
import type { RunStatement } from '../../db/statements.ts'
import { refuse } from '../errors.ts'
import type { AuthSettings } from '../settings/keys.ts'
import { beginCooldown, endCooldown, type Cooldown } from '../store/cooldowns.ts'
import { countMails } from '../store/outbox.ts'
import { mailKinds } from './kinds.ts'
import type { MailKind, Undo } from './mailer.ts'

/** Cooldown of a mailbox and ceiling of the project (section 4.11). */

export interface Recipient {
  readonly kind: MailKind
  readonly recipient: string
}

/** The key under which addresses stand in the table: whoever reads it learns nobody's. */
export function addressKey(projectSecret: string): Buffer {
  return createHmac('sha256', projectSecret).update('catalograph mail cooldowns').digest()
}

const cooldownOf = (key: Buffer, { kind, recipient }: Recipient): Cooldown => ({
  kind: mailKinds[kind].cooldown,
  addressHash: createHmac('sha256', key).update(recipient).digest(),
})

/**
 * Begins the cooldowns of all mails of a call and gives what takes them back. They are begun in one order whoever
 * calls, so that calls wait for each other and never in a circle. Throws 429 `over_email_send_rate_limit`.
 */
export async function beginCooldowns(
  run: RunStatement,
  key: Buffer,
  recipients: readonly Recipient[],
  { mail_cooldown: seconds }: AuthSettings,
): Promise<readonly Undo[]> {
  const wanted = recipients.map((one) => cooldownOf(key, one))
  const ordered = [...wanted].sort((a, b) => a.kind.localeCompare(b.kind) || a.addressHash.compare(b.addressHash))
  const undo: Undo[] = []
  for (const cooldown of ordered) {
    const verdict = await beginCooldown(run, cooldown, seconds)
    if (verdict.kind === 'waiting') throw tooSoon(verdict.seconds)
    undo.push((later) => endCooldown(later, cooldown, verdict.sentAt))
  }
  return undo
}

const tooSoon = (seconds: number): Error =>
  refuse('over_email_send_rate_limit', {
    message: `For security purposes, you can only request this after ${seconds} seconds.`,
    retryAfter: seconds,
  })

/** Retry-After of the ceiling: a place gets free before that, or soon after. */
const ceilingRetrySeconds = 60

/** Throws 429 `over_email_send_rate_limit` when so many mails more would be more than an hour may have. */
export async function checkCeiling(run: RunStatement, more: number, settings: AuthSettings): Promise<void> {
  if ((await countMails(run)) + more > settings.mail_ceiling) {
    throw refuse('over_email_send_rate_limit', { retryAfter: ceilingRetrySeconds })
  }
}
