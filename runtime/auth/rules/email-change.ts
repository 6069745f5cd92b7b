import type { AuthSettings } from '../settings/setting-keys.ts'
import type { UserRow } from '../protocol/records.ts'

/** A mailbox that confirms a change of address. */
export type ChangeMailbox = 'email_change_new' | 'email_change_current'

/** The mailboxes that must confirm a change; always the new one, which only this proves (spec/auth.md 5.4). */
export function mailboxesOf(
  { email }: Pick<UserRow, 'email'>,
  { secure_email_change: secure }: Pick<AuthSettings, 'secure_email_change'>,
): readonly ChangeMailbox[] {
  return (email ?? '') !== '' && secure ? ['email_change_new', 'email_change_current'] : ['email_change_new']
}
