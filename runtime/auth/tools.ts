import type { StatementsDatabase } from '../db/statements.ts'
import type { Google } from './google/provider.ts'
import type { Passwords } from './hashing/passwords.ts'
import type { MailRequests } from './mail-requests.ts'
import type { Mailer } from './mails/mailer.ts'
import type { OneTimeTokens } from './one-time/tokens.ts'
import type { Throttle } from './throttle.ts'
import type { AccessTokens } from './tokens.ts'

/** What endpoints work with. */
export interface AuthTools {
  readonly database: StatementsDatabase
  readonly passwords: Passwords
  readonly tokens: AccessTokens
  readonly oneTime: OneTimeTokens
  readonly mailer: Mailer
  readonly mailRequests: MailRequests
  readonly throttle: Throttle
  readonly google: Google
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
}
