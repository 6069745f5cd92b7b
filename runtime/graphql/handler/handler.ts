import type pg from 'pg'
import { createCompiledService } from '../compiled/serve.ts'
import { createCompiledSource } from '../compiled/source.ts'
import { eventsOf, eventStreamType } from '../http/event-stream.ts'
import { acceptedMedia, contentTypes, outcomeHeaders, statusTable } from '../http/route.ts'
import { readBody, readQueryString } from '../http/request.ts'
import { failureOf, httpErrors, verified } from '../http/credential-failures.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import { failureTable, HttpFailure, statusHeaders } from '../../http/boundary.ts'
import { bodyBytes } from '../../http/bodies.ts'
import { createProjectKeysReader } from '../../db/connect/project-keys.ts'
import { createAuthenticate } from '../../identity/caller.ts'
import { createIssuers } from '../../identity/issuers.ts'
import type { IssuerSetting } from '../../settings/parsers.ts'
import { createTokenVerifier } from '../../identity/jwt.ts'
import { createKnownKeys } from '../../identity/revoked-keys.ts'
import type { PreviousSecret } from '../../identity/key-set.ts'
import { Hopeless } from '../../lib/retry.ts'
import { documentsOf, readArtifact, type DocumentTexts } from './artifacts.ts'
import { bodyText } from './body.ts'
import { openHandlerDatabase } from './database.ts'
import { whileWatched } from './leaving.ts'

/** Compiled documents as a function from a request to its answer, for JavaScript runtimes that reach Postgres. */

export type { DocumentTexts } from './artifacts.ts'
export type { IssuerSetting as TrustedIssuer } from '../../settings/parsers.ts'

export interface HandlerOptions {
  /** Creates a client of `pg` and connects it, as the login role of requests. The handler ends it. */
  readonly connect: () => Promise<pg.Client>
  /** The secret of project keys and tokens. */
  readonly jwtSecret: string
  /** The secret before a rotation; its signatures are accepted until that time, in milliseconds since 1970. */
  readonly previousSecret?: PreviousSecret
  /** Other issuers whose bearer tokens are accepted. */
  readonly trustedIssuers?: readonly IssuerSetting[]
  /** Served schemas, in order (default: public). */
  readonly schemas?: readonly string[]
  /** Simultaneous connections of requests (default: 8); one more looks at the database. */
  readonly connections?: number
  /** False if a connection must not outlive its request, as in workers (default: true). */
  readonly keepsConnections?: boolean
  /** The statement timeout in milliseconds, unless the role has its own limit (default: 30,000). */
  readonly statementTimeoutMs?: number
  /** Largest body in bytes (default: 1 MiB). */
  readonly bodyLimitBytes?: number
  /** Receives errors that the client did not cause. */
  readonly onError?: (error: unknown) => void
}

/** As workers pass it to `fetch`; without it a runtime ends background work with the request. */
export interface HandlerContext {
  readonly waitUntil?: (work: Promise<unknown>) => void
}

export interface Handler {
  /**
   * Answers POST and GET like /graphql/v1, for any path. Never rejects. If the request's signal reports that its client
   * disconnected, reads are cancelled in Postgres, and writes continue.
   * @param environment of a worker, as it is passed to `fetch`; not used
   * @param context of a worker: gets the work that continues after the answer or the disconnection
   */
  (request: Request, environment?: unknown, context?: HandlerContext): Promise<Response>
  /**
   * Resolves when the documents were compared with the database, after a check for a pooler; rejects if none of them
   * can be answered there.
   */
  readonly ready: () => Promise<void>
  /** Ends the connections and their running requests. */
  readonly close: () => void
}

/** @throws ArtifactFailure for artifacts of another format, or without a part */
export function createHandler(artifacts: DocumentTexts, options: HandlerOptions): Handler {
  const { jwtSecret: secret, trustedIssuers, bodyLimitBytes = 1_048_576, onError = () => undefined } = options
  const { schemas = ['public'], connections = 8, keepsConnections = true, statementTimeoutMs = 30_000 } = options
  const { connect, previousSecret: previous = null } = options
  const alone = !keepsConnections
  const database = openHandlerDatabase({ connect, schemas, connections, keepsConnections, statementTimeoutMs })
  const source = createCompiledSource({
    documents: documentsOf(artifacts),
    query: database.query,
    log: () => undefined,
    alone,
  })
  const service = createCompiledService({ database, source }, readArtifact(artifacts), null, { alone })
  const { isRevoked } = createKnownKeys({
    read: createProjectKeysReader(database.query),
    now: Date.now,
    unknown: () => new HttpFailure('UNAVAILABLE'),
    reading: alone ? 'alone' : 'shared',
  })
  const believing = { secret, previous, now: Date.now, isRevoked }
  const verify = createTokenVerifier(believing)
  const verifyBearer =
    trustedIssuers === undefined
      ? verify
      : createTokenVerifier({ ...believing, issuers: createIssuers(trustedIssuers) })
  const authenticate = createAuthenticate(verify, verifyBearer)

  const answer = async (request: Request): Promise<Response> => {
    const { headers, method } = request
    const { media, isStream: wantsEvents } = acceptedMedia(method, headers.get('accept') ?? undefined)
    const credentials = {
      apikey: headers.get('apikey') ?? undefined,
      authorization: headers.get('authorization') ?? undefined,
    }
    const identified = await verified(authenticate(credentials))
    if (identified.kind !== 'caller') throw failureOf(identified)
    const { caller } = identified
    const asking = await asked(request, bodyLimitBytes)
    const response = await whileWatched(request.signal, caller, (context) => service.serve(asking, caller, context))
    const { outcome } = response
    const isStream = wantsEvents && (outcome === 'ok' || outcome === 'failed')
    return new Response(isStream ? eventsOf(response) : bodyBytes(response.body), {
      status: statusTable[outcome][media],
      headers: {
        ...sent,
        'content-type': isStream ? eventStreamType : contentTypes[media],
        ...Object.fromEntries(outcomeHeaders[outcome][media]),
      },
    })
  }
  const answerOrRefusal = async (request: Request): Promise<Response> => {
    try {
      return await answer(request)
    } catch (error) {
      if (error instanceof HttpFailure) return refusedResponse(error)
      onError(error)
      return refusedResponse(new HttpFailure(error instanceof Hopeless ? 'UNAVAILABLE' : 'INTERNAL'))
    }
  }
  const handle: (...asked: Parameters<Handler>) => Promise<Response> = (request, _environment, context) => {
    const answered = answerOrRefusal(request)
    context?.waitUntil?.(answered)
    return answered
  }
  const ready = async (): Promise<void> => {
    await database.checkPooler()
    await source()
  }
  return Object.assign(handle, { ready, close: database.close })
}

const methods = 'GET, HEAD, POST'

/** @throws HttpFailure */
async function asked(request: Request, bodyLimitBytes: number): Promise<GraphqlRequest> {
  if (request.method === 'POST') return readBody(await bodyText(request, bodyLimitBytes))
  if (request.method !== 'GET' && request.method !== 'HEAD') throw new HttpFailure('METHOD_NOT_ALLOWED')
  return readQueryString(new URL(request.url).searchParams)
}

const sent = { vary: 'accept', 'cache-control': 'no-store' }

function refusedResponse({ code, message }: HttpFailure): Response {
  const { status } = failureTable[code]
  const headers = {
    ...sent,
    'content-type': contentTypes['application/json'],
    ...statusHeaders(status),
    ...(status === 405 && { allow: methods }),
  }
  return new Response(httpErrors(code, message), { status, headers })
}
