import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { positionHeader, positionText, type Position } from '../../contract/execution.ts'
import { clientAddress, limitSource } from '../../http/request-context.ts'
import { HttpFailure } from '../../http/boundary.ts'
import type { Origins } from '../../http/cors.ts'
import type { VerifyToken } from '../../identity/jwt.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Log } from '../../settings/log/events.ts'
import { detailOf, toErrorAnswer } from './boundary.ts'
import type { Outcome } from '../call/call.ts'
import { answerCall, usualBudgetMs, type RawRequest, type Endpoints } from './endpoint.ts'
import { refuse, type ApiVersion } from '../protocol/errors.ts'
import { routeAt, type Route } from './route.ts'
import { routes } from './routes.ts'
import type { ReadAuthState } from '../settings/store.ts'
import type { AuthTools } from '../accounts/tools.ts'

export interface AuthParts {
  readonly tools: AuthTools
  readonly state: ReadAuthState
  /** Of project keys and access tokens alike. */
  readonly verify: VerifyToken
  /** The header with the client's address, in lower case; null: the socket has it. */
  readonly addressHeader: string | null
  /** The origins whose pages may read answers; null: all. */
  readonly origins: Origins
  readonly log: Log
  /** Receives each write, with the user who must see it, null for all; resolves with its position. Absent: unused. */
  readonly wrote?: ((user: string | null) => Promise<Position | null>) | undefined
}

const prefix = '/auth/v1'
const largestBody = 1_048_576
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY'] as const
const versionHeader = 'x-supabase-api-version'

/** Registers every row of routes.ts below /auth/v1. Fastify's requests are not passed beyond this file. */
export function registerAuth(app: FastifyInstance, parts: AuthParts): void {
  const endpoints: Endpoints = { ...parts, budgetMs: usualBudgetMs }
  void app.register(
    async (scope) => {
      acceptAnyBytes(scope)
      scope.addHook('onRequest', async (request, reply) => {
        reply.header('cache-control', 'no-store')
        if (apiVersionOf(versionOf(request)) === '2024-01-01') reply.header(versionHeader, '2024-01-01')
      })
      scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, parts.log))
      for (const route of routes) register(scope, route, endpoints, parts)
      for (const path of new Set(routes.map((route) => routeAt(route).path))) refuseOtherMethods(scope, path, parts)
      scope.setNotFoundHandler(() => refuseUnknown(parts, new HttpFailure('NOT_FOUND')))
    },
    { prefix },
  )
}

function register(scope: FastifyInstance, route: Route, endpoints: Endpoints, parts: AuthParts): void {
  const { method, path } = routeAt(route)
  scope.route({
    method,
    url: path,
    bodyLimit: largestBody,
    // A link scanner's HEAD must spend nothing (spec/auth.md, attack 29).
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const outcome = await answerCall(endpoints, route, arrivalOf(request, parts))
      const { failure } = outcome
      if (failure !== undefined) {
        parts.log({ kind: 'request-failed', requestId: request.id, detail: detailOf(failure) })
      }
      if (parts.wrote !== undefined && mayHaveWritten(method, outcome)) {
        const position = await parts.wrote(route.guard === 'admin' ? null : signedIn(outcome))
        if (position !== null) reply.header(positionHeader, positionText(position))
      }
      return sendOutcome(reply, outcome)
    },
  })
}

/** Links of mails and providers are followed by GET, and redirect the browser. */
const mayHaveWritten = (method: string, { status }: Outcome): boolean => method !== 'GET' || status >= 300

/** The user of a session in the answer; guests read as their address. */
function signedIn({ body }: Outcome): string | null {
  const user: unknown = body !== null && 'user' in body ? body.user : null
  return isJsonObject(user) && typeof user['id'] === 'string' && user['is_anonymous'] !== true ? user['id'] : null
}

function refuseOtherMethods(scope: FastifyInstance, path: string, parts: AuthParts): void {
  const known: readonly string[] = routes.map(routeAt).flatMap((place) => (place.path === path ? place.method : []))
  const method = methods.filter((one) => !known.includes(one))
  const handler = (_request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', [...known, 'OPTIONS'].join(', '))
    return refuseUnknown(parts, new HttpFailure('METHOD_NOT_ALLOWED'))
  }
  scope.route({ method: [...method], url: path, onRequest: handler, handler })
}

/** A project without auth answers every path alike. */
async function refuseUnknown({ state }: AuthParts, failure: HttpFailure): Promise<never> {
  if ((await state()).kind === 'disabled') throw refuse('auth_not_enabled')
  throw failure
}

/** For every content type, the row of the endpoint reads the body; an empty one is allowed (spec/auth.md 2.3). */
function acceptAnyBytes(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
}

function arrivalOf(request: FastifyRequest, { addressHeader }: AuthParts): RawRequest {
  const address = clientAddress(request, addressHeader)
  const query = textsOf(request.query)
  const forwardedFor = headerOf(request, 'sb-forwarded-for')
  const [origin, site] = [headerOf(request, 'origin'), headerOf(request, 'sec-fetch-site')]
  // Browsers of before 2023 say an origin alone.
  const isForeign = site === 'cross-site' || (site === '' && origin !== '')
  return {
    via: forwardedFor === '' && !isForeign ? null : { forwardedFor, origin: isForeign ? origin : null },
    client: { address, source: limitSource(address), userAgent: headerOf(request, 'user-agent') || null },
    apikey: headerOf(request, 'apikey') || (query['apikey'] ?? ''),
    authorization: request.headers.authorization,
    params: textsOf(request.params),
    query,
    askedRedirect: {
      asked: headerOf(request, 'redirect_to') || (query['redirect_to'] ?? ''),
      referer: headerOf(request, 'referer'),
    },
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  }
}

function headerOf(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return (Array.isArray(value) ? value.at(-1) : value) ?? ''
}

const versionOf = (request: FastifyRequest): string => headerOf(request, versionHeader)

/** The version in the header X-Supabase-Api-Version; an unreadable value means the first. */
export function apiVersionOf(header: string | undefined): ApiVersion {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(header ?? '') ? Date.parse(header ?? '') : NaN
  return date >= Date.UTC(2024, 0, 1) ? '2024-01-01' : 'initial'
}

/** Fields as texts; of a repeated one the first counts. Throws 400 for NUL, which Postgres does not accept. */
function textsOf(fields: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(fields as Readonly<Record<string, string | readonly string[]>>)
  const texts = entries.map(([name, value]) => [name, typeof value === 'string' ? value : (value[0] ?? '')] as const)
  if (texts.some(([, text]) => text.includes('\0'))) throw refuse('validation_failed')
  return Object.fromEntries(texts)
}

function sendOutcome(reply: FastifyReply, { status, headers, body }: Outcome): FastifyReply {
  reply.code(status).headers(headers)
  if (body === null) return reply.send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body))
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const answer = toErrorAnswer(error, apiVersionOf(versionOf(request)), request.id)
  if (answer.unexpected) log({ kind: 'request-failed', requestId: request.id, detail: detailOf(error) })
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(answer.body))
}
