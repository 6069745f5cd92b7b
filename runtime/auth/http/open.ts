import type { Caller } from '../../contract/execution.ts'
import { openStatements, type StatementsDatabase } from '../../db/pool/statements.ts'
import { HttpFailure } from '../../http/boundary.ts'
import type { PoolerSetting } from '../../settings/keys.ts'
import type { Log } from '../../settings/log/events.ts'
import { detailOf } from './boundary.ts'
import { createKeySet, type KeySet, type PreviousSecret } from '../../identity/key-set.ts'
import { createProviders } from '../providers/openid.ts'
import type { Issuers } from '../providers/provider-set.ts'
import { storedHashKinds } from '../store/hash-kinds.ts'
import { startHousekeeping } from '../store/leftovers.ts'
import { usualCost, createAddressHash, createDeviceOf } from '../secrets/algorithms.ts'
import { createFlowProof } from '../rules/credentials.ts'
import { createPasswords } from '../secrets/passwords.ts'
import { mailRequestActs } from '../endpoints/mail-request-acts.ts'
import { createMailRequests } from '../mails/mail-requests.ts'
import { createMailer } from '../mails/create-mailer.ts'
import { createSmtp, type MailServer } from '../mails/smtp.ts'
import { createOneTimeTokens } from '../secrets/one-time-tokens.ts'
import { authOwner } from '../schema/auth-schema.ts'
import { createAuthState, type ReadAuthState } from '../settings/store.ts'
import { createWhereReady, type WhereReady } from '../schema/migrate.ts'
import { createThrottle } from '../limits/throttle.ts'
import { createAccessTokens, keySetOf } from '../secrets/access-tokens.ts'
import { createTokenUse, type AuthTools } from '../accounts/tools.ts'

export interface OpenAuthOptions {
  /** Connection URL of a role that owns the tables of auth, or may become the role that does. */
  readonly url: string
  readonly poolSize: number
  readonly pooler?: PoolerSetting
  readonly secret: string
  /** The previous secret: codes keyed with it are valid until it ends. Null or absent: none. */
  readonly previousSecret?: PreviousSecret | null
  /** Address of the project, without a trailing slash. */
  readonly baseUrl: () => string
  readonly issuers: Issuers
  readonly now: () => number
  readonly smtpUrl?: string | null
  /** Sender of mails; null or absent: one at the host of the project's own address. */
  readonly mailFrom?: string | null
  readonly processes?: number
  /** Of bcrypt; absent: that of spec/auth.md 12. */
  readonly hashCost?: number
  readonly log: Log
}

export interface OpenAuth {
  readonly tools: AuthTools
  readonly state: ReadAuthState
  /** The current keys beside the secret. Rejects with HttpFailure while they are unknown. */
  readonly keys: () => Promise<KeySet>
  /** Called with the caller of each access token when its signature is first verified. */
  readonly believed: (caller: Caller) => void
  readonly close: () => Promise<void>
}

/** Below the time limit of a request, so that a slow statement ends before its answer is due. */
const statementTimeoutMs = 8_000

const noKeys = createKeySet([])

/** The dependencies of auth. Opens no connection: they are made on demand. */
export function openAuth(options: OpenAuthOptions): OpenAuth {
  const database = openStatements({
    url: options.url,
    schemas: ['auth'],
    role: authOwner,
    poolSize: options.poolSize,
    pooler: options.pooler ?? 'auto',
    statementTimeout: statementTimeoutMs,
  })
  const whereReady = createWhereReady(database.run)
  const state = createAuthState({
    run: database.run,
    whereReady,
    externalUrl: () => `${options.baseUrl()}/auth/v1`,
    now: options.now,
  })
  const housekeeping = startHousekeeping(database.run, state)
  const tools = createTools({ database, whereReady, state }, options)
  const close = async (): Promise<void> => {
    await tools.mailRequests.stop()
    await housekeeping.stop()
    await database.close()
  }
  return { tools, state, keys: keysFrom(state), believed: createTokenUse(database.run, whereReady), close }
}

const mailServerOf = ({ smtpUrl = null }: OpenAuthOptions): MailServer | null =>
  smtpUrl === null ? null : createSmtp(smtpUrl)

interface Ground {
  readonly database: StatementsDatabase
  readonly whereReady: WhereReady
  readonly state: ReadAuthState
}

function createTools({ database, whereReady, state }: Ground, options: OpenAuthOptions): AuthTools {
  const { secret, now, log, processes = 1, hashCost = usualCost } = options
  const kinds = async () => (await storedHashKinds(database.run)).map(({ kind }) => kind)
  const mailer = createMailer({ database, secret, server: mailServerOf(options), from: options.mailFrom ?? null })
  const mailRequests = createMailRequests({
    database,
    whereReady,
    mailer,
    state,
    act: (kind, call, view, input) => mailRequestActs[kind](call, { ...tools, mailer: view }, input),
    failed: (error) => log({ kind: 'mail-failed', detail: detailOf(error) }),
  })
  const tools: AuthTools = {
    database,
    passwords: createPasswords({ processes, cost: hashCost, kinds }),
    tokens: createAccessTokens(secret, now),
    oneTime: createOneTimeTokens(secret, { previous: options.previousSecret ?? null, now }),
    deviceOf: createDeviceOf(secret),
    addressHash: createAddressHash(secret),
    mailer,
    mailRequests,
    throttle: createThrottle({ run: database.run, whereReady, now }),
    providers: createProviders(options.issuers, now),
    proveFlow: createFlowProof(secret),
    now,
  }
  return tools
}

function keysFrom(state: ReadAuthState): () => Promise<KeySet> {
  return async () => {
    const now = await state().catch(() => {
      throw new HttpFailure('UNAVAILABLE')
    })
    return now.kind === 'enabled' ? keySetOf(now.settings.jwt_keys) : noKeys
  }
}
