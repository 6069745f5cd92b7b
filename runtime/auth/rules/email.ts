import type { AuthSettings } from '../settings/setting-keys.ts'
import type { UserRow } from '../protocol/records.ts'

/** The fault of an address; null: none (spec/auth.md 4.2). */
type EmailFault = 'malformed' | 'too-long' | null

/** RFC 5322 atoms, dots anywhere among them. */
const local = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+$/
/** RFC 1035 section 2.3.1, digits first allowed by RFC 1123. */
const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const longest = 255

export function judgeEmail(address: string): EmailFault {
  if (address.length > longest) return 'too-long'
  const at = address.lastIndexOf('@')
  if (at < 1) return 'malformed'
  const domain = address.slice(at + 1)
  return local.test(address.slice(0, at)) && domain.split('.').every((one) => label.test(one)) ? null : 'malformed'
}

/** The form in which addresses are stored and compared. Blanks stay: they make it malformed. */
export function normalEmail(address: string): string {
  return address.toLowerCase()
}

export type ChangeMailbox = 'email_change_new' | 'email_change_current'

/** The mailboxes that must confirm a change; always the new one, which only this proves (spec/auth.md 5.4). */
export function mailboxesOf(
  { email }: Pick<UserRow, 'email'>,
  { secure_email_change: secure }: Pick<AuthSettings, 'secure_email_change'>,
): readonly ChangeMailbox[] {
  return (email ?? '') !== '' && secure ? ['email_change_new', 'email_change_current'] : ['email_change_new']
}
