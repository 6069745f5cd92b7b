import { retries, retry } from '../../lib/retry.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import { savingUser } from './accounts.ts'
import type { Call } from '../call/call.ts'
import { steadyTokens } from '../secrets/one-time-tokens.ts'
import type { AuthTools } from './tools.ts'
import type { UserRow } from '../protocol/records.ts'
import type { Linked, Linking } from './provider-sign-in.ts'

interface Work<T> {
  readonly link: (linking: Linking) => Promise<Linked>
  /** Stores rows together with the link. */
  readonly then: (run: RunStatement, user: UserRow) => Promise<T>
}

/**
 * Links an account, and stores the rows of `then` with it, in one transaction that may send a mail. Two concurrent
 * first sign-ins of one person create one account: the second finds it.
 */
export function linkAndKeep<T>(
  call: Call,
  tools: AuthTools,
  given: Pick<Linking, 'provider' | 'profile' | 'destination'>,
  work: Work<T>,
): Promise<T> {
  const once = async (): Promise<T> => {
    const oneTime = steadyTokens(tools.oneTime)
    const ended = await tools.mailer.withMail(call.settings, async (run, send) => {
      const linked = await work.link({ ...given, run, send, call, oneTime })
      return linked.kind === 'refused' ? linked : { kind: 'kept' as const, value: await work.then(run, linked.user) }
    })
    if (ended.kind === 'refused') throw ended.failure
    return ended.value
  }
  return savingUser(() => retry(retries.accountLink, once, isTaken))
}

const isTaken = (error: unknown): boolean => error instanceof DatabaseFailure && error.sqlstate === '23505'
