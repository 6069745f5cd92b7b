import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { messageOf } from './lib/text.ts'
import { assembleServer, type ServerParts, type ServerSettings } from './server.ts'

/** The process around the server: its address and its end. */

export interface ProcessParts extends ServerParts {
  /** Called once: the server listens and its first schema is loaded. */
  readonly onReady: (url: string) => void
  /** Whether it listens before its first schema is loaded; requests are answered 503 until then. */
  readonly listensEarly: boolean
  /** Resolves with the reason of the process's end. */
  readonly stopRequested: Promise<string>
}

/** The server cannot listen on the address. */
export class ListenFailure extends Error {
  override readonly name = 'ListenFailure'
}

/**
 * Runs the server until it is asked to stop, and then stops it: no new connections, running requests end within the
 * grace period, the pool is closed. It starts even if the database is down. Rejects with ListenFailure if it cannot
 * listen.
 */
export async function runServer(parts: ProcessParts): Promise<void> {
  const place = { url: '' }
  const { app, start, stop } = await assembleServer(parts, () => place.url)
  const stopping = new AbortController()
  try {
    const open = async (): Promise<void> => {
      place.url = await listen(app.fastify, parts.settings)
      parts.log({ kind: 'listening', url: place.url })
    }
    if (parts.listensEarly) await open()
    const warm = start(stopping.signal).then(async (isLoaded) => {
      if (!isLoaded) return
      if (!parts.listensEarly) await open()
      parts.onReady(place.url)
    })
    // A failure of the warm-up ends the process here, not as an unhandled rejection.
    const reason = await Promise.race([parts.stopRequested, warm.then(() => parts.stopRequested)])
    parts.log({ kind: 'stopping', signal: reason })
    stopping.abort()
    await warm
  } finally {
    stopping.abort()
    await stop()
  }
  parts.log({ kind: 'stopped' })
}

/**
 * Connections that may wait to be accepted; the system caps it (Linux: net.core.somaxconn, 4096). With Node's 511 a
 * flood of connections overflows the queue, and new connections wait a second for TCP to repeat its SYN.
 */
const backlog = 65_535

/** Rejects with ListenFailure if the address is in use: found before long work rather than behind it. */
export async function refuseBusyAddress({ host, port }: Pick<ServerSettings, 'host' | 'port'>): Promise<void> {
  const probe = createServer()
  try {
    await once(probe.listen({ host, port }), 'listening')
  } catch (error) {
    throw new ListenFailure(listenSentence(error, host, port))
  } finally {
    probe.close()
  }
}

async function listen(app: FastifyInstance, { host, port }: ServerSettings): Promise<string> {
  try {
    return await app.listen({ host, port, backlog })
  } catch (error) {
    throw new ListenFailure(listenSentence(error, host, port))
  }
}

function listenSentence(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use; set PORT to another one`
  if (code === 'EACCES') return `port ${port} may not be opened by this user; set PORT to one above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is no address of this machine; set HOST`
  return `cannot listen on ${host}:${port}: ${messageOf(error)}`
}
