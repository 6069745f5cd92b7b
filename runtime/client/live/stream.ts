import type { Environment } from '../environment.ts'
import type { GraphqlError, GraphqlResult } from '../graphql.ts'
import { isFields, type Fields } from '../json.ts'
import { createAnswers } from './answers.ts'
import type { StreamCallers } from './caller.ts'
import { endOfFailure, lost, type End } from './end.ts'
import type { StreamRequest, Transport } from './transport.ts'
import type { Waking } from './waking.ts'

/** The first pause before a reconnection, and the longest: each is twice the previous one, less up to a half. */
const [firstPauseMs, longestPauseMs] = [500, 30_000]
/** A connection of this duration counts as good: the pauses start again. */
const steadyMs = 10_000

export interface StreamParts {
  readonly key: string
  readonly transport: Transport
  readonly callers: StreamCallers
  readonly environment: Environment
  readonly waking: Waking
}

export interface StreamListener {
  readonly result: (result: GraphqlResult<unknown>) => void
  /** The connection was lost and is retried; null: it is restored. */
  readonly connection: (error: GraphqlError | null) => void
  /** Null without an error. */
  readonly ended: (error: GraphqlError | null) => void
}

/** Keeps a stream connected until its end, and passes on each changed answer. Returns the function that stops it. */
export function openStream(parts: StreamParts, body: Promise<string>, listener: StreamListener): () => void {
  const { environment, waking } = parts
  const answers = createAnswers()
  let attempt = new AbortController()
  let [isOver, isMissing, failures, connectedAt] = [false, false, 0, Infinity]
  let refused: string | null = null
  const caller = parts.callers.open({ renewed: () => attempt.abort(), over: () => finish(null) })

  const finish = (error: GraphqlError | null): void => {
    if (isOver) return
    isOver = true
    caller.close()
    attempt.abort()
    if (error !== null) listener.result({ data: null, error, extensions: {} })
    listener.ended(error)
  }
  const connected = (): void => {
    connectedAt = environment.now()
    answers.connected()
    if (!isMissing) return
    isMissing = false
    waking.wake()
    listener.connection(null)
  }
  /** Null if the stream was stopped, or continues with another token. */
  const connect = async (request: StreamRequest): Promise<End | null> => {
    // Only once the token is known: a renewal is an event as well.
    attempt = new AbortController()
    connectedAt = Infinity
    const { signal } = attempt
    let broken: End | null = null
    const next = (message: Fields, eventId: string): void => {
      if (signal.aborted) return
      try {
        const data = answers.take(message, eventId)
        refused = null
        if (data !== undefined) listener.result({ data, error: null, extensions: extensionsOf(message) })
      } catch {
        broken = lost('bad_answer', 'The service sent an answer that does not follow the last one')
        answers.forget()
        attempt.abort()
      }
    }
    const end = await parts.transport(request, { connected, next }, signal)
    return broken ?? (signal.aborted ? null : end)
  }
  const tryOnce = async (): Promise<End | null> => {
    try {
      const token = await caller.token(refused)
      if (isOver || token === null) return { kind: 'completed' }
      const end = await connect({ body: await body, token, eventId: answers.eventId() })
      if (end?.kind !== 'unauthorized' || refused !== null || token === parts.key) return end
      // Once, with another token.
      refused = token
      return null
    } catch (thrown) {
      return endOfFailure(thrown)
    }
  }
  const rest = async ({ error, waitMs }: Extract<End, { kind: 'lost' }>): Promise<void> => {
    failures = environment.now() - connectedAt > steadyMs ? 1 : failures + 1
    const most = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1))
    isMissing = true
    listener.connection(error)
    attempt = new AbortController()
    if (!isOver) await pause(parts, Math.max(waitMs, most * (1 - Math.random() / 2)), waitMs === 0, attempt.signal)
  }
  const follow = async (): Promise<void> => {
    while (!isOver) {
      const end = await tryOnce()
      if (end === null) continue
      if (end.kind === 'completed') finish(null)
      else if (end.kind === 'lost') await rest(end)
      else finish(end.error)
    }
  }
  void follow()
  return () => finish(null)
}

const extensionsOf = ({ extensions }: Fields): Fields => (isFields(extensions) ? extensions : {})

/** Waits until the signal aborts or, if allowed, until an event suggests a retry. */
function pause(
  { environment, waking }: StreamParts,
  milliseconds: number,
  mayWake: boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      stopWaiting()
      stopWaking()
      resolve()
    }
    const stopWaiting = environment.after(milliseconds, over)
    const stopWaking = mayWake ? waking.subscribe(over) : () => undefined
    signal.addEventListener('abort', over)
  })
}
