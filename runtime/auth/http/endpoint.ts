import { isIP } from 'node:net'
import type { VerifyToken } from '../../identity/jwt.ts'
import type { Sharer } from '../../lib/sharing/places.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { checkApiKey } from '../protocol/input.ts'
import { adminOfBearer, userOfBearer } from './bearer.ts'
import { createBudget, type Budget } from '../limits/budget.ts'
import type { RequestedRedirect, Call, Client, Outcome, SessionCall, UserCall } from '../call/call.ts'
import { AuthFailure, OauthFailure, refuse } from '../protocol/errors.ts'
import { readDeclared, readQuery } from '../protocol/io.ts'
import type { Route } from './route.ts'
import type { Origins } from '../../http/cors.ts'
import type { ReadAuthState } from '../settings/store.ts'
import type { AuthTools } from '../accounts/tools.ts'
import { limitSource } from '../../http/request-context.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import { judgeRedirect } from '../rules/redirect.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'

export interface RawRequest {
  readonly client: Client
  /** Null: the request comes from its client, and from no page of another site. */
  readonly via: Via | null
  readonly apikey: string
  readonly authorization: string | undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly askedRedirect: RequestedRedirect
  readonly body: Buffer
}

export interface Endpoints {
  readonly tools: AuthTools
  /** The origins whose pages may read answers; null: all. */
  readonly origins: Origins
  readonly state: ReadAuthState
  readonly verify: VerifyToken
  readonly budgetMs: number
}

/** spec/auth.md 2.3: a request that takes longer is answered 504, see budget.ts. */
export const usualBudgetMs = 10_000

/**
 * Answers one request in the common order: enabled, project key, blocked addresses and limits, bearer token, body, then
 * the endpoint itself. Size and CORS came before. Throws AuthFailure, OauthFailure, KeyFailure.
 */
export async function answerCall(endpoints: Endpoints, route: Route, arrival: RawRequest): Promise<Outcome> {
  const budget = createBudget(endpoints.tools.database, endpoints.budgetMs)
  const sharer = { party: arrival.client.source, kind: route.guard === 'user' ? 'member' : 'stranger' } as const
  const limited = { ...endpoints, tools: toolsWithin(budget, sharer, route.guard === 'admin', endpoints.tools) }
  try {
    return await budget.within(() => answerInTime(limited, route, arrival))
  } catch (error) {
    await count(endpoints, route, arrival, error)
    throw isRefreshGrant(route, arrival) ? sparingSession(error) : error
  }
}

const isRefreshGrant = ({ at }: Route, { query }: RawRequest): boolean =>
  at === 'POST /token' && query['grant_type'] === 'refresh_token'

/** Of refusals that say nothing of the session. */
const passing: ReadonlySet<number> = new Set([409, 429])

/** The public clients take every status below 500 for a verdict on the session, and forget it. */
function sparingSession(error: unknown): unknown {
  if (!(error instanceof AuthFailure) || !passing.has(error.status)) return error
  return refuse(error.code, { status: 503, message: error.message, retryAfter: error.retryAfter ?? 1 })
}

/** The tools of one call. Few calls send mails or hash. */
const toolsWithin = ({ database, check }: Budget, sharer: Sharer, isAdmin: boolean, tools: AuthTools): AuthTools => ({
  ...tools,
  database,
  get mailer() {
    return tools.mailer.on({ database, source: isAdmin ? null : sharer.party })
  },
  get passwords() {
    return tools.passwords.on({ check, sharer })
  },
})

const keyless: ReadonlySet<Route['guard']> = new Set(['probe', 'open'])
/** Not checked, or only once a token turns out not to be an administrator's. */
const spared: ReadonlySet<Route['guard']> = new Set(['probe', 'admin'])

async function answerInTime(endpoints: Endpoints, route: Route, arrival: RawRequest): Promise<Outcome> {
  const { tools, state, verify } = endpoints
  const now = await state()
  if (now.kind === 'disabled') throw refuse('auth_not_enabled')
  if (!keyless.has(route.guard)) await checkApiKey(arrival.apikey, verify)
  const client = arrival.via === null ? arrival.client : await senderOf(endpoints, arrival, arrival.via, now.settings)
  if (!spared.has(route.guard)) {
    await tools.throttle.refuseBanned(client.source)
    // A page of another site has its browser come from an address that may be closed.
    if (client !== arrival.client && client.address === arrival.client.address)
      await tools.throttle.refuseBanned(arrival.client.source)
  }
  if (route.limit !== 'none') await tools.throttle.take(route.limit, client.source, now.settings)
  const { params, askedRedirect } = arrival
  const query = readQuery(route.io, arrival.query)
  const { authorization } = arrival
  const bearer = () => userOfBearer({ authorization, verify, run: tools.database.run })
  const call = { settings: now.settings, client, params, query, askedRedirect, bearer }
  return answerGuarded(endpoints, route, arrival, call)
}

async function answerGuarded(
  { tools, verify }: Endpoints,
  route: Route,
  arrival: RawRequest,
  call: Omit<Call, 'body'>,
): Promise<Outcome> {
  const body = () => readDeclared(route.io, arrival.body)
  switch (route.guard) {
    case 'probe':
    case 'open':
    case 'key':
      return route.handle({ ...call, body: body() }, tools)
    case 'admin': {
      const { authorization } = arrival
      const bearer = { authorization, verify, run: tools.database.run }
      const adminRole = await adminOfBearer(bearer, call.settings.admin_roles).catch(async (error: unknown) => {
        await tools.throttle.refuseBanned(call.client.source)
        throw error
      })
      return route.handle({ ...call, body: body(), adminRole }, tools)
    }
    case 'user': {
      const known = await call.bearer()
      const userCall: UserCall = { ...call, body: body(), ...known }
      return route.assurance === 'none'
        ? route.handle(userCall, tools)
        : route.handle(ofSession(userCall, route), tools)
    }
    default:
      return unreachable(route)
  }
}

function ofSession(call: UserCall, { assurance }: Route): SessionCall {
  if (assurance === 'member' && call.user.is_anonymous) {
    throw refuse('no_authorization', { status: 403, message: 'Anonymous user not allowed to perform these actions' })
  }
  if (call.session === null) throw refuse('session_not_found')
  return { ...call, session: call.session }
}

/** Answers that are not failed attempts: calls that were limited already, and missing tokens. */
const uncounted: ReadonlySet<number> = new Set([401, 429])

async function count(endpoints: Endpoints, route: Route, arrival: RawRequest, error: unknown): Promise<void> {
  const { tools, state } = endpoints
  const status = statusOf(error)
  if (!route.counted || status < 400 || status >= 500 || (uncounted.has(status) && !isAttempt(error))) return
  const now = await state()
  if (now.kind === 'disabled') return
  const { client, via } = arrival
  const { source } = via === null ? client : await senderOf(endpoints, arrival, via, now.settings)
  await tools.throttle.failed(source, now.settings)
}

const isAttempt = (error: unknown): boolean => error instanceof AuthFailure && error.isAttempt

/** 0: a failure of another kind, which counts against no client. */
function statusOf(error: unknown): number {
  if (error instanceof AuthFailure) return error.status
  return error instanceof OauthFailure ? 400 : 0
}

/** The checks between a client and its request. */
interface Via {
  /** The header Sb-Forwarded-For of a server that calls for its users; empty: none. */
  readonly forwardedFor: string
  /** The origin of the page, which is of another site; empty: it named none; null: there is no such page. */
  readonly origin: string | null
}

/**
 * The sender of a call, as limits count it (spec/auth.md 10): the user whom a server with the service_role key names, and
 * apart from its address, what a page of a foreign site has a browser send.
 *
 * @throws AuthFailure 400 `validation_failed`: such a server names no address
 */
async function senderOf(
  { verify, origins }: { readonly verify: VerifyToken; readonly origins: Origins },
  { client, apikey }: { readonly client: Client; readonly apikey: string },
  { forwardedFor, origin }: Via,
  settings: AuthSettings,
): Promise<Client> {
  if (forwardedFor !== '' && (await isServiceKey(apikey, verify))) return forwardedClient(client, forwardedFor)
  if (origin === null || isNamedOrigin(origin, origins, settings)) return client
  return { ...client, source: `cross-site ${client.source}` }
}

async function isServiceKey(apikey: string, verify: VerifyToken): Promise<boolean> {
  const verdict = await verify(apikey)
  return verdict.kind === 'verified' && verdict.caller.role === ownerRole
}

/** A proxy before the server may have made a list of it, which the client's address begins. */
function forwardedClient(client: Client, forwardedFor: string): Client {
  const address = (forwardedFor.split(',')[0] ?? '').trim()
  if (isIP(address) === 0) throw refuse('validation_failed', 'Sb-Forwarded-For must be an IP address')
  return { ...client, address, source: limitSource(address) }
}

/** An origin that the owner named: in CORS_ORIGINS, or as a place to which the service may redirect. */
function isNamedOrigin(origin: string, origins: Origins, settings: AuthSettings): boolean {
  const page = `${origin}/`
  const destination = judgeRedirect(page, settings)
  return origins?.includes(origin) === true || (destination.kind === 'allowed' && destination.url === page)
}
