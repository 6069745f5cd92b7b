import type { AuthSettings } from '../settings/setting-keys.ts'
import type { UserRow } from '../protocol/records.ts'

/** A mailbox that confirms a change of address. */
export type ChangeMailbox = 'email_change_new' | 'email_change_current'

/** The mailboxes that have to confirm a change; the new one always, since nothing else proves it (spec/auth.md 5.4). */
export function mailboxesOf(
  { email }: Pick<UserRow, 'email'>,
  { secure_email_change: secure }: Pick<AuthSettings, 'secure_email_change'>,
): readonly ChangeMailbox[] {
  return (email ?? '') !== '' && secure ? ['email_change_new', 'email_change_current'] : ['email_change_new']
}
