import type { RunStatement, StatementsDatabase } from '../../db/pool/statements.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import type { Begun } from '../store/throttles.ts'
import type { MailKind } from './kinds.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The variables of a template. Values from people are arbitrary: escape them where they are inserted. */
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

/** Adds a mail about the transaction that it is sent in. */
export type SendMail = (mail: Mail) => void

/** Statements, and the mails about them. It may run more than once, and must send the same mails each time. */
export type MailWork<T> = (run: RunStatement, send: SendMail) => Promise<T>

export type MailNote<T> = (run: RunStatement, value: T) => Promise<void>

/** A request for a mail that was answered already: its cooldowns have begun, and the ceiling counts it. */
export interface HeldRequest {
  readonly id: string
  readonly begun: readonly Begun[]
}

export interface MailerView {
  /** Where work is stored; a call's own refuses to commit once the call was answered 504. */
  readonly database: StatementsDatabase
  /** Null: the limits of the call itself apply. */
  readonly request: HeldRequest | null
  /** The source address of the call; null: an administrator's. */
  readonly source: string | null
}

export interface Mailer {
  /**
   * Runs work that sends mails, and commits it once the mail server has accepted them: a server that refuses or is late
   * leaves everything unchanged, and 500 `unexpected_failure` is thrown (spec/auth.md 9.3). No lock is held while the
   * server responds (spec/auth.md, attack 34): the work runs once to collect its mails and is rolled back, and runs
   * again when they are sent. Throws 429 while an address must wait.
   */
  readonly withMail: <T>(settings: AuthSettings, work: MailWork<T>, note?: MailNote<T>) => Promise<T>
  /**
   * The same with work on a decoy, which is rolled back, and without a mail: only the cooldown of `address` and the
   * note are kept. It costs the statements of withMail, so that the time does not reveal whether the address has an
   * account (spec/auth.md, attacks 21 and 22); instead of the mail the server is asked whether it accepts mails.
   */
  readonly pretend: (
    settings: AuthSettings,
    address: string,
    decoy: MailWork<unknown>,
    note: MailNote<unknown>,
  ) => Promise<void>
  /** Asks the mail server whether it accepts mails; throws 500 `unexpected_failure` if not. */
  readonly check: (kind: MailKind) => Promise<void>
  /** Begins the cooldowns of an address for mails of these kinds. Throws 429 while one lasts or no more may be sent. */
  readonly reserve: (
    run: RunStatement,
    settings: AuthSettings,
    kinds: readonly MailKind[],
    address: string,
  ) => Promise<readonly Begun[]>
  readonly on: (view: Partial<MailerView>) => Mailer
}
