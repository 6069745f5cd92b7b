import { decodeJwt } from 'jose'
import type { Authenticate, CredentialRefusal, Credentials } from '../../../identity/caller.ts'
import { createAlarms, createRounds } from '../../../lib/timers.ts'

/**
 * The lifetime of credentials: until a query with them would be refused. Tokens end with `exp`; a revoked key is
 * noticed within a minute.
 */
export interface Sessions {
  /** @param refused called once, unless the result was called before */
  readonly open: (credentials: Credentials, refused: (refusal: CredentialRefusal) => void) => () => void
}

/** Together with the age of the list of revoked keys (identity/revoked-keys.ts) less than a minute. */
const checkedEveryMs = 30_000

/** The clock of alarms may be ahead of that of tokens. */
const againMs = 1_000

/** @param now the clock, in milliseconds since 1970 */
export function createSessions(authenticate: Authenticate, now: () => number): Sessions {
  const setAlarm = createAlarms(now)
  const joinRounds = createRounds(checkedEveryMs)
  return {
    open: (credentials, refused) => {
      const ends = endOfCredentials(credentials)
      let isOpen = true
      const check = async (): Promise<void> => {
        // If the issuer does not respond, the token's state is unknown.
        const identified = await Promise.resolve(authenticate(credentials)).catch(() => null)
        if (!isOpen || identified === null || identified.kind === 'caller') return
        close()
        refused(identified)
      }
      const atEnd = async (): Promise<void> => {
        await check()
        if (isOpen) cancelAlarm = setAlarm(now() + againMs, () => void atEnd())
      }
      let cancelAlarm = ends === Infinity ? () => undefined : setAlarm(ends, () => void atEnd())
      const leaveRounds = joinRounds(() => void check())
      const close = (): void => {
        isOpen = false
        cancelAlarm()
        leaveRounds()
      }
      return close
    },
  }
}

/** The earliest expiry, in milliseconds since 1970; Infinity: none. */
const endOfCredentials = ({ apikey, authorization }: Credentials): number =>
  Math.min(...[apikey, authorization?.split(' ').at(-1)].map(endOfToken))

function endOfToken(token: string | undefined): number {
  if (token === undefined) return Infinity
  const { exp = Infinity } = decodeJwt(token)
  return exp * 1_000
}
