import { createHmac } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import { refuse } from '../protocol/errors.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import { beginCooldown, endCooldown, type Begun } from '../store/cooldowns.ts'
import { countMails } from '../store/outbox.ts'
import { mailKinds, type MailKind } from './kinds.ts'

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

/** Retry-After of the ceiling: a place becomes free before that, or soon after. */
const ceilingRetrySeconds = 60

/**
 * Throws 429 `over_email_send_rate_limit` if so many more mails exceed the hourly maximum. `request`: one that is
 * counted already, and now gets its mails.
 */
export async function checkCeiling(
  run: RunStatement,
  more: number,
  settings: AuthSettings,
  request: string | null,
): Promise<void> {
  if ((await countMails(run, request)) + more > settings.mail_ceiling) {
    throw refuse('over_email_send_rate_limit', { retryAfter: ceilingRetrySeconds })
  }
}
