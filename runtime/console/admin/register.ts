import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { adminOfBearer } from '../../auth/http/bearer.ts'
import { detailOf, toErrorAnswer } from '../../auth/http/boundary.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { readDeclared, readQuery } from '../../auth/protocol/io.ts'
import type { AuthParts } from '../../auth/http/register.ts'
import { routeAt } from '../../auth/http/route.ts'
import { audit } from '../../auth/store/audit-log.ts'
import { instanceId } from '../../auth/store/users.ts'
import { clientAddress, limitSource } from '../../http/request-context.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import type { AdminParts, OwnerCall, OwnerRoute } from './call.ts'
import { ownerRoutes } from './routes.ts'

const prefix = '/admin/v1'

/**
 * Registers every row of routes.ts below /admin/v1. They answer while auth is not enabled, because the owner enables it
 * here. Answers are those of answers.ts; errors are `{code, message}`.
 */
export function registerAdmin(app: FastifyInstance, parts: AdminParts): void {
  void app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
      guardForOwner(scope, parts)
      for (const route of ownerRoutes) register(scope, route, parts)
    },
    { prefix },
  )
}

/** Everything within the scope is for the owner only, and its errors have the form of /admin/v1. */
export function guardForOwner(scope: FastifyInstance, parts: AdminParts): void {
  scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, parts))
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    await checkOwner(request, parts)
  })
}

function register(scope: FastifyInstance, route: OwnerRoute, parts: AdminParts): void {
  const { method, path } = routeAt(route)
  scope.route({
    method,
    url: path,
    handler: async (request, reply) => {
      const { status, headers, body } = await route.handle(callOf(request, route, parts), parts)
      return reply.code(status).headers(headers).send(body)
    },
  })
}

/** Only the role of the owner's key is admitted; other clients of its address do not affect it. */
async function checkOwner(request: FastifyRequest, { tools, verify, addressHeader }: AuthParts): Promise<void> {
  const { authorization, apikey } = request.headers
  const bearer = authorization ?? (typeof apikey === 'string' ? `Bearer ${apikey}` : undefined)
  const { run } = tools.database
  await adminOfBearer({ authorization: bearer, verify, run }, [ownerRole]).catch(async (error: unknown) => {
    await tools.throttle.refuseBanned(limitSource(clientAddress(request, addressHeader)))
    throw error
  })
}

function callOf(request: FastifyRequest, { io }: OwnerRoute, { addressHeader }: AuthParts): OwnerCall {
  const address = clientAddress(request, addressHeader)
  const actor = { id: instanceId, email: ownerRole }
  return {
    params: textsOf(request.params),
    query: readQuery(io, textsOf(request.query)),
    body: readDeclared(io, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)),
    note: (action, traits) => (run) => audit(run, { action, actor, address, traits }),
  }
}

/** Fields that occur once; a repeated field is ambiguous and is dropped. */
const textsOf = (fields: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields as object).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

/** The schema or table is missing: auth is not prepared in this database. */
const notPrepared: ReadonlySet<string> = new Set(['3F000', '42P01', '42501'])

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, { log }: AuthParts): FastifyReply {
  const unprepared = error instanceof DatabaseFailure && notPrepared.has(error.sqlstate ?? '')
  const failure = unprepared
    ? refuse('auth_not_enabled', 'Auth is not prepared in this database. Its owner runs: catalograph auth enable')
    : error
  const answer = toErrorAnswer(failure, '2024-01-01', request.id)
  if (answer.unexpected) log({ kind: 'request-failed', requestId: request.id, detail: detailOf(error) })
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}
