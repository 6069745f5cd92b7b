import type { StatementsDatabase } from '../../db/pool/statements.ts'
import type { Client } from '../call/call.ts'
import type { ProviderSet } from '../providers/openid.ts'
import type { ProveFlow } from '../rules/flow-proof.ts'
import type { Passwords } from '../secrets/passwords.ts'
import type { MailRequests } from '../mails/mail-requests.ts'
import type { Mailer } from '../mails/mailer.ts'
import type { OneTimeTokens } from '../secrets/one-time-tokens.ts'
import type { Throttle } from '../limits/throttle.ts'
import type { AccessTokens } from '../secrets/access-tokens.ts'

/** The dependencies of endpoints. */
export interface AuthTools {
  readonly database: StatementsDatabase
  readonly passwords: Passwords
  readonly tokens: AccessTokens
  readonly oneTime: OneTimeTokens
  readonly mailer: Mailer
  readonly mailRequests: MailRequests
  readonly throttle: Throttle
  /** The key that identifies the device of a request. */
  readonly deviceOf: (client: Client) => Buffer
  /** The key that counts guesses of an address, in lower case. */
  readonly addressHash: (email: string) => Buffer
  readonly providers: ProviderSet
  readonly proveFlow: ProveFlow
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
}
