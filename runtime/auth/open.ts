import { openStatements, type StatementsDatabase } from '../db/statements.ts'
import { HttpFailure } from '../http/failures.ts'
import { createKeySet, type KeySet } from '../identity/key-set.ts'
import { createPasswords } from './hashing/passwords.ts'
import { createOutboxMailer } from './mails/outbox-mailer.ts'
import { createOneTimeTokens } from './one-time/tokens.ts'
import { authOwner } from './schema/auth-schema.ts'
import { createAuthState, type ReadAuthState } from './settings/load.ts'
import { noThrottle } from './throttle.ts'
import { createAccessTokens, keySetOf } from './tokens.ts'
import type { AuthTools } from './tools.ts'

export interface OpenAuthOptions {
  /** Connection URL of a role that owns the tables of auth, or may take on the role that does. */
  readonly url: string
  readonly poolSize: number
  /** The project's secret. */
  readonly secret: string
  /** Address under which the project is reached, without a slash at its end. */
  readonly baseUrl: () => string
  /** The clock, in milliseconds. */
  readonly now: () => number
}

export interface OpenAuth {
  readonly tools: AuthTools
  readonly state: ReadAuthState
  /** The keys beside the secret, as they are now. Rejects with HttpFailure while they cannot be known. */
  readonly keys: () => Promise<KeySet>
  readonly close: () => Promise<void>
}

/** Below the limit of a request, so that a statement that is too slow ends before its answer is due. */
const statementTimeoutMs = 8_000

const noKeys = createKeySet([])

/** What auth works on. Opens nothing yet: connections are made when they are first needed. */
export function openAuth(options: OpenAuthOptions): OpenAuth {
  const database = openStatements({
    url: options.url,
    schemas: ['auth'],
    role: authOwner,
    poolSize: options.poolSize,
    statementTimeout: statementTimeoutMs,
  })
  const state = createAuthState({
    run: database.run,
    externalUrl: () => `${options.baseUrl()}/auth/v1`,
    now: options.now,
  })
  return { tools: createTools(database, options), state, keys: keysFrom(state), close: database.close }
}

function createTools(database: StatementsDatabase, { secret, now }: OpenAuthOptions): AuthTools {
  return {
    database,
    passwords: createPasswords(),
    tokens: createAccessTokens(secret, now),
    oneTime: createOneTimeTokens(secret),
    mailer: createOutboxMailer(database),
    throttle: noThrottle,
    now,
  }
}

function keysFrom(state: ReadAuthState): () => Promise<KeySet> {
  return async () => {
    const now = await state().catch(() => {
      throw new HttpFailure('UNAVAILABLE')
    })
    return now.kind === 'enabled' ? keySetOf(now.settings.jwt_keys) : noKeys
  }
}
