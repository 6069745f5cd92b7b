import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../../../contract/execution.ts'
import { newContext, newTimeline } from '../../../http/request-context.ts'
import type { ObserveRequest } from '../../http/observed.ts'
import { readBodyQuickly } from '../../http/request.ts'
import { httpErrors } from '../../http/credential-failures.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { HttpFailure } from '../../../http/boundary.ts'
import type { RateLimit } from '../../../http/rate-limit.ts'
import type { Log } from '../../../settings/log/events.ts'
import type { Hub } from '../streams/hub.ts'
import type { AnswerRequest, LiveStream, StreamOwner } from '../streams/stream-types.ts'
import type { SocketOutlet } from './outlet.ts'

/** One operation of a socket: a query or a mutation that is answered once, or a subscription. */
export interface SocketOperation {
  /** The socket accepts more data. */
  readonly ready: () => void
  /** The client cancelled it. */
  readonly cancel: () => void
}

export interface OperationParts {
  readonly serve: AnswerRequest
  readonly open: Hub['open']
  /** Null: no rate limit. */
  readonly rateLimit: RateLimit | null
  readonly requestTimeoutMs: number
  /** Null: no observer. */
  readonly observe: ObserveRequest | null
  readonly log: Log
}

/** @param ended called when it ends without `cancel` */
export function beginOperation(
  parts: OperationParts,
  owner: StreamOwner,
  outlet: SocketOutlet,
  { id, payload }: { readonly id: string; readonly payload: string },
  ended: () => void,
): SocketOperation {
  const timeline = parts.observe === null ? null : newTimeline(performance.now())
  const context = newContext(owner, parts.requestTimeoutMs, timeline)
  let stream: LiveStream | null = null
  let isWanted = true
  const end = (response: GraphqlResponse): void => {
    isWanted = false
    ended()
    outlet.end(id, response)
  }
  const begin = async (): Promise<void> => {
    try {
      const asked = readBodyQuickly(payload)
      refuseTooMany(parts, owner)
      const response = await parts.serve(asked, owner.caller, context)
      if (!isWanted) return
      const opened = response.code === 'STREAM_REQUIRED' ? open(asked) : response
      reportObserved(parts, owner, context, asked, 'outcome' in opened ? opened : { outcome: 'ok', body: '' })
      if ('outcome' in opened) end(opened)
      else stream = opened
    } catch (error) {
      if (isWanted) end(answerTo(error, parts.log))
    }
  }
  const open = (asked: GraphqlRequest): LiveStream | GraphqlResponse =>
    parts.open(
      asked,
      owner,
      { lastId: null },
      {
        isWritable: outlet.isWritable,
        next: ({ body }) => outlet.next(id, body),
        unchanged: () => undefined,
        failed: end,
        // Its socket is closed as well.
        stopped: () => undefined,
      },
    )
  void begin()
  return {
    ready: () => stream?.ready(),
    cancel: () => {
      isWanted = false
      stream?.close()
      context.aborted = true
      context.onAbort?.()
    },
  }
}

function refuseTooMany({ rateLimit }: OperationParts, { party, kind }: StreamOwner): void {
  if (rateLimit !== null && kind !== 'service' && rateLimit.take(party) > 0) throw new HttpFailure('RATE_LIMITED')
}

function reportObserved(
  { observe }: OperationParts,
  { caller }: StreamOwner,
  { timeline }: RequestContext,
  asked: GraphqlRequest,
  response: GraphqlResponse,
): void {
  if (observe === null || timeline === null) return
  observe({ requestId: randomUUID(), asked, role: caller.role, response, timeline, done: performance.now() })
}

function answerTo(error: unknown, log: Log): GraphqlResponse {
  const failure = error instanceof HttpFailure ? error : new HttpFailure('INTERNAL')
  if (failure !== error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log({ kind: 'request-failed', requestId: randomUUID(), detail })
  }
  const { code, message } = failure
  return { outcome: 'invalid', code, body: httpErrors(code, message) }
}
