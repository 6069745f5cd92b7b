import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { Answer } from '../../judge-answer.ts'
import type { Question } from '../../interpreter/world.ts'
import { applyPatch } from '../../../../runtime/client/live/patch.ts'
import { openEvents } from '../../../support/event-client.ts'
import type { Random } from '../../../support/random.ts'
import type { History } from './history.ts'

/** Streams of a service, from the clients' side. */

export interface Watcher {
  readonly place: number
  readonly question: Question
  readonly connections: readonly Connection[]
  readonly stop: () => Promise<void>
}

/** From a request to the end of its stream. */
export interface Connection {
  readonly transport: Transport
  /** The service of the request. */
  readonly url: string
  /** When its token expires, in milliseconds since 1970; null: never. */
  readonly expires: number | null
  /** The oldest state that its first answer may show. */
  readonly from: number
  /** The client sent the id of the last answer: it has it already. */
  readonly resumes: boolean
  readonly heard: Heard[]
  end: End
}

export interface Heard {
  readonly answer: Answer
  /** As it was sent, with all digits of its numbers; null if the client does not provide it. */
  readonly text: string | null
  /** The newest state that it may show. */
  readonly newest: number
  /** When it came, in milliseconds since 1970. */
  readonly at: number
}

export type End =
  /** It is open. */
  | null
  /** The client left. */
  | { readonly kind: 'left' }
  /** The connection was lost, or no service could be reached. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The service had too many streams. */
  | { readonly kind: 'full' }
  /** The service ended it because of its token. */
  | { readonly kind: 'expired'; readonly at: number }
  /** The service ended it; its last message is the last answer. */
  | { readonly kind: 'complete' }

export type Transport = 'events' | 'patches' | 'socket'
const transports: readonly Transport[] = ['events', 'patches', 'socket']

/** The address of a service. */
export interface Address {
  readonly url: string
  /** @param expires when the token expires, in milliseconds since 1970; null: never */
  readonly headersOf: (question: Question, expires: number | null) => Readonly<Record<string, string>>
}

interface Open {
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>
  readonly leave: () => void
}

/** The state of a client between connections. */
interface Kept {
  id: string | null
  data: unknown
}

interface Asking {
  readonly address: Address
  readonly question: Question
  readonly connection: Connection
  readonly kept: Kept
  readonly hear: (answer: Answer, text?: string) => void
}

type Patched = Answer & { readonly extensions?: { readonly patch?: readonly unknown[] } }

/**
 * The complete answer, of which only differences may have been sent. Other libraries do not follow a path through a
 * member called `constructor`, which may be a field.
 */
function wholeOf(answer: Patched, kept: Kept): Answer {
  const patch = answer.extensions?.patch
  return patch === undefined ? answer : { data: applyPatch(kept.data, patch) }
}

const bodyOf = ({ document, variables, operationName }: Question, patch = false) => ({
  query: document,
  variables,
  ...(operationName !== null && { operationName }),
  ...(patch && { extensions: { live: { patch: true } } }),
})

async function openByEvents({ address, question, connection, kept, hear }: Asking): Promise<Open> {
  const client = await openEvents(`${address.url}/graphql/v1`, bodyOf(question, connection.transport === 'patches'), {
    ...address.headersOf(question, connection.expires),
    ...(connection.resumes && { 'last-event-id': kept.id ?? '' }),
  })
  const listen = async (): Promise<End> => {
    if (!client.type.startsWith('text/event-stream')) {
      const body = await client.body()
      kept.id = null
      if (client.status === 503) return /OVERLOADED/.test(body) ? { kind: 'full' } : { kind: 'lost', why: body }
      hear(JSON.parse(body) as Answer)
      return { kind: 'complete' }
    }
    for (let event = await client.next(); event !== null; event = await client.next()) {
      // Later data of a connection that was left are not the base of the next one.
      if (connection.end !== null) return connection.end
      if (event.event === 'complete') return { kind: 'complete' }
      const sent = JSON.parse(event.data) as Patched
      const answer = wholeOf(sent, kept)
      kept.id = event.id
      kept.data = answer.data
      hear(answer, answer === sent ? event.data : undefined)
    }
    return { kind: 'lost', why: 'the connection ended' }
  }
  const ended = listen().then((end) => void (connection.end ??= end))
  return { ended, leave: client.close }
}

async function openBySocket({ address, question, connection, kept, hear }: Asking): Promise<Open> {
  const client = createClient({
    url: `${address.url.replace('http', 'ws')}/graphql/v1`,
    webSocketImpl: WebSocket,
    connectionParams: address.headersOf(question, connection.expires),
    retryAttempts: 0,
  })
  kept.id = null
  const ended = new Promise<End>((resolve) => {
    client.subscribe<unknown>(bodyOf(question), {
      next: (answer) => hear(answer as Answer),
      error: (reason) => {
        if (!Array.isArray(reason)) {
          const isRefused = (reason as { readonly code?: number }).code === forbidden
          return resolve(isRefused ? expired() : { kind: 'lost', why: JSON.stringify(reason) })
        }
        hear({ data: null, errors: reason })
        resolve({ kind: 'complete' })
      },
      complete: () => resolve({ kind: 'complete' }),
    })
  }).then((end) => void (connection.end ??= end))
  // Leaving a refused connection rejects once more.
  return { ended, leave: () => void Promise.resolve(client.dispose()).catch(() => undefined) }
}

/** Code of a socket that is closed for its token. */
const forbidden = 4403

const expired = (): End => ({ kind: 'expired', at: Date.now() })

/** How a stream ended that was refused independently of the database's state; null: it was not. */
function endBy({ errors }: Answer, hasHeard: boolean): End {
  const [error] = errors ?? []
  if (error === undefined) return null
  if (/it has expired/.test(error.message)) return expired()
  // Before its first answer a stream ends in this way (spec/graphql.md 16.2).
  if (hasHeard) return null
  if (error.extensions.code === 'OVERLOADED') return { kind: 'full' }
  const { code } = error.extensions
  return passing.has(code) || uncompiled.has(code) ? { kind: 'lost', why: `${code}: ${error.message}` } : null
}

/** A token that expires soon. */
const expiresSoon = (random: Random): number => (Math.floor(Date.now() / 1_000) + 1 + random(6)) * 1_000

const conflict = 'DATABASE_CONFLICT'
const passing: ReadonlySet<string> = new Set(['DATABASE_UNAVAILABLE', conflict])

/** Whether the end needs no lost connection: a conflict, or locks and other work delayed the feed. */
export const isWithoutOutage = (end: End): boolean =>
  end?.kind === 'lost' && (end.why.startsWith(conflict) || end.why.includes('Changes are not reported in time.'))

/** The error of a service of compiled documents until it has artifacts of the current schema. */
export const uncompiled: ReadonlySet<string> = new Set(['DOCUMENT_OUTDATED', 'DOCUMENT_NOT_COMPILED'])

/** Whether the stream did not begin because artifacts are missing. */
export const isUncompiled = (end: End): boolean =>
  end?.kind === 'lost' && [...uncompiled].some((code) => end.why.includes(code))

export interface Watching {
  readonly history: History
  readonly addresses: readonly Address[]
  readonly random: Random
  /** No watcher leaves, and lost ones reconnect. */
  readonly isQuiet: () => boolean
}

/** Watches over consecutive connections. */
export function watch(question: Question, place: number, watching: Watching): Watcher {
  const { history, addresses, random, isQuiet } = watching
  const connections: Connection[] = []
  const kept: Kept = { id: null, data: null }
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  const once = async (): Promise<void> => {
    const transport = transports[random(transports.length)] ?? 'events'
    const resumes = transport !== 'socket' && kept.id !== null && random(4) > 0
    const address = addresses[random(addresses.length)] as Address
    const connection: Connection = {
      transport,
      url: address.url,
      expires: random(4) === 0 ? expiresSoon(random) : null,
      from: history.oldest(),
      resumes,
      heard: [],
      end: null,
    }
    connections.push(connection)
    const hear: Asking['hear'] = (answer, text) => {
      const end = endBy(answer, connection.heard.length > 0)
      if (end === null) connection.heard.push({ answer, text: text ?? null, newest: history.newest(), at: Date.now() })
      else connection.end ??= end
    }
    const opening = openers[transport]({ address, question, connection, kept, hear })
    const open = await Promise.race([opening, stopped])
    // A missing answer is found by the check for lacking ones.
    if (open === undefined) return
    const stays = random(3) === 0 ? pause(50 + random(1_500)) : open.ended
    await Promise.race([open.ended, stays, stopped])
    while (isQuiet() && connection.end === null && !stopping.signal.aborted)
      await Promise.race([open.ended, stopped, pause(20)])
    connection.end ??= { kind: 'left' }
    open.leave()
  }
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await once().catch((error: unknown) => {
        const last = connections.at(-1)
        if (last !== undefined) last.end ??= { kind: 'lost', why: String(error) }
      })
      while (isQuiet() && connections.at(-1)?.end?.kind === 'complete' && !stopping.signal.aborted) await pause(20)
      await pause(connections.at(-1)?.end?.kind === 'complete' ? 500 + random(2_500) : random(200))
    }
  }
  const whole = run()
  return {
    place,
    question,
    connections,
    stop: () => {
      stopping.abort()
      return whole
    },
  }
}

const openers: Readonly<Record<Transport, (asking: Asking) => Promise<Open>>> = {
  events: openByEvents,
  patches: openByEvents,
  socket: openBySocket,
}
