import { randomUUID } from 'node:crypto'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import type { Challenge } from '../rules/credentials.ts'
import type { AmrMethod } from '../protocol/records.ts'
import { defineAction, defineLookup, defineValue } from './define.ts'

/** auth.flow_state (spec/auth.md 6.2): `auth_code_issued_at` is set once, when the flow leaves its first stage. */

/** Lifetime of a flow in seconds (spec/auth.md 6.2). */
export const flowSeconds = 300

const insert = statement<object>(
  'auth.flow-states.insert',
  `with flow as (
    insert into auth.flow_state (id, user_id, auth_code, code_challenge_method, code_challenge, provider_type,
      authentication_method, referrer, linking_target_id, created_at, updated_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now()) returning id
  )
  insert into catalograph_auth.linking_flows (flow_id, session_id)
  select id, $10::uuid from flow where $10::uuid is not null`,
)

export interface ReturnedFlow {
  readonly id: string
  readonly auth_code: string
  readonly has_challenge: boolean
  /** The provider's name. */
  readonly provider_type: string
  readonly referrer: string | null
  readonly linking_target_id: string | null
  /** The session that requested the identity; null: there is none, or it has ended. */
  readonly linking_session_id: string | null
}

/** Found and claimed by one statement: of two browsers with one state the second finds it claimed. */
const claim = statement<ReturnedFlow>(
  'auth.flow-states.claim',
  `update auth.flow_state set auth_code_issued_at = now(), updated_at = now()
  where id = $1 and authentication_method = 'oauth' and auth_code_issued_at is null
    and created_at > now() - make_interval(secs => $2)
  returning id, auth_code, code_challenge is not null as has_challenge, provider_type, referrer, linking_target_id,
    (select l.session_id from catalograph_auth.linking_flows l where l.flow_id = flow_state.id) as linking_session_id`,
)

const findIssued = defineValue<boolean, [id: string]>(
  'auth.flow-states.is-issued',
  `select auth_code_issued_at is not null as issued from auth.flow_state
  where id = $1 and authentication_method = 'oauth'`,
  'issued',
)

export interface IssuedFlow {
  readonly id: string
  readonly user_id: string
  readonly code_challenge: string | null
  readonly code_challenge_method: 's256' | 'plain' | null
  readonly authentication_method: AmrMethod
  /** The provider's name, if the method is `oauth`. */
  readonly provider_type: string
  readonly provider_access_token: string | null
  readonly provider_refresh_token: string | null
  /** Its age in seconds: since mails may stay unread, it counts from the opening of the link. */
  readonly age: number
}

export interface NewFlow {
  readonly userId: string | null
  readonly challenge: Challenge | null
  readonly providerType: string
  readonly method: AmrMethod
  /** Checked destination. */
  readonly referrer: string
  /** The account that the provider's identity joins. */
  readonly linker?: FlowLinker
}

export interface FlowLinker {
  readonly userId: string
  readonly sessionId: string
}

/** Stores a flow and returns its id, which is also the OAuth `state`. */
export const insertFlow = async (run: RunStatement, flow: NewFlow): Promise<string> => {
  const id = randomUUID()
  const { userId, providerType, referrer, linker = null } = flow
  const { method, challenge } = flow.challenge ?? { method: null, challenge: null }
  const begun = [id, userId, randomUUID(), method, challenge, providerType, flow.method, referrer]
  await run(insert, [...begun, linker?.userId ?? null, linker?.sessionId ?? null])
  return id
}

export type Claim =
  | { readonly kind: 'claimed'; readonly flow: ReturnedFlow }
  | { readonly kind: 'used' | 'expired' | 'unknown' }

/**
 * Claims the flow of a `state`, a UUID: once, for any outcome, so that it cannot be replayed (spec/auth.md, attack 19).
 */
export const claimFlow = async (run: RunStatement, state: string): Promise<Claim> => {
  const [flow] = await run(claim, [state, flowSeconds])
  if (flow !== undefined) return { kind: 'claimed', flow }
  const issued = await findIssued(run, state)
  return { kind: issued === null ? 'unknown' : issued ? 'used' : 'expired' }
}

export interface ProviderTokens {
  readonly accessToken: string
  readonly refreshToken: string | null
}

/** From now on the code of a claimed flow can be exchanged for a session of the user. */
export const signFlow = defineAction<[id: string, userId: string, tokens: ProviderTokens]>(
  'auth.flow-states.sign',
  `update auth.flow_state set user_id = $2, provider_access_token = $3, provider_refresh_token = $4, updated_at = now()
  where id = $1`,
  (id, userId, { accessToken, refreshToken }) => [id, userId, accessToken, refreshToken],
)

/**
 * The link of a PKCE flow's mail was opened: returns the code for the browser, and the destination of the flow. Null:
 * the flow does not exist any more. For repeated mails the newest flow counts.
 */
export const issueMailedCode = defineLookup<
  { readonly auth_code: string; readonly referrer: string | null },
  [userId: string, method: AmrMethod]
>(
  'auth.flow-states.issue-mailed',
  `update auth.flow_state set auth_code_issued_at = now(), updated_at = now()
  where id = (
    select id from auth.flow_state
    where user_id = $1 and authentication_method = $2 and auth_code_issued_at is null
    order by created_at desc limit 1 for update
  ) and auth_code_issued_at is null
  returning auth_code, referrer`,
)

/** The user of an issued code; null: unknown, or exchanged already. */
export const findIssuedTo = defineValue<string, [code: string]>(
  'auth.flow-states.issued-to',
  `select user_id from auth.flow_state
  where auth_code = $1 and user_id is not null and auth_code_issued_at is not null`,
  'user_id',
)

/** The flow of an issued code, locked until the transaction ends. Lock its user first, as everywhere. */
export const lockIssuedFlow = defineLookup<IssuedFlow, [code: string]>(
  'auth.flow-states.lock-issued',
  `select id, user_id, code_challenge, code_challenge_method, authentication_method, provider_type, provider_access_token,
    provider_refresh_token, extract(epoch from clock_timestamp()
      - case when authentication_method = 'oauth' then created_at else auth_code_issued_at end)::float8 as age
  from auth.flow_state
  where auth_code = $1 and user_id is not null and auth_code_issued_at is not null for update`,
)

/** Counts a wrong verifier; returns the total. The flow must be locked. */
export const countFlowTry = defineValue<number, [id: string]>(
  'auth.flow-states.count-try',
  `insert into catalograph_auth.flow_tries as t (flow_id, tries) values ($1, 1)
  on conflict (flow_id) do update set tries = t.tries + 1 returning tries`,
  'tries',
)

export const deleteFlow = defineAction<[id: string]>(
  'auth.flow-states.delete',
  'delete from auth.flow_state where id = $1',
)

/** Voids codes of links or of the provider that were not exchanged yet. */
export const deleteIssuedFlowsOf = defineAction<[userId: string]>(
  'auth.flow-states.delete-issued',
  'delete from auth.flow_state where user_id = $1 and auth_code_issued_at is not null',
)

export const deleteFlowsOf = defineAction<[userId: string]>(
  'auth.flow-states.delete-of-user',
  `delete from auth.flow_state
  where user_id = $1
    or (linking_target_id = $1 and created_at > now() - interval '${flowSeconds} seconds')`,
)
