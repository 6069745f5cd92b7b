import type { RunStatement } from '../../db/statements.ts'
import type { AuthSettings } from '../settings/keys.ts'
import type { JsonObject } from '../types.ts'

/** Kinds of mail (section 9.1), named as their templates are. */
export type MailKind = 'confirmation' | 'recovery' | 'magic_link' | 'invite' | 'email_change' | 'reauthentication'

/** What a template may name. Everything that comes from people is theirs to choose: escape it where it is put. */
export interface MailVariables {
  readonly ConfirmationURL: string
  readonly Token: string
  readonly TokenHash: string
  readonly SiteURL: string
  readonly Email: string
  readonly NewEmail: string
  readonly RedirectTo: string
  readonly SendingTo: string
  readonly Data: JsonObject
}

export interface Mail {
  readonly kind: MailKind
  readonly recipient: string
  readonly variables: MailVariables
}

/** Takes back what the transaction of a mail did, in a transaction of its own, unless somebody went on from there. */
export type Undo = (run: RunStatement) => Promise<void>

/** Puts a mail into the outbox, inside the transaction that it tells of. Throws 429 while its address has to wait. */
export type Send = (mail: Mail, undo: Undo) => Promise<void>

export interface Mailer {
  /**
   * Runs work that sends mails in one transaction and hands the mails over once it is committed, so that no lock is
   * held while a mail server thinks (attack 34). Where the server refuses or is late, the work is undone and 500
   * `unexpected_failure` thrown, as if nothing had happened (section 9.3).
   */
  readonly withMail: <T>(settings: AuthSettings, work: (run: RunStatement, send: Send) => Promise<T>) => Promise<T>
  /**
   * In place of a mail to an address that gets none: costs as much time, begins the same cooldown, throws the same 429,
   * so that nobody learns whether the address has an account (section 4.11, attacks 21 and 22).
   */
  readonly pretend: (settings: AuthSettings, kind: MailKind, address: string) => Promise<void>
}
