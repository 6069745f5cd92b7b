import type { Environment } from '../environment.ts'
import { endOfFailure, type End } from './end.ts'
import { openSharedSocket, type SharedSocket } from './socket.ts'
import type { Transport, TransportParts } from './transport.ts'

/** WebSocket: all streams with one token share a socket. */
export function createSocketTransport(
  { url, key, environment, waking }: TransportParts,
  open: NonNullable<Environment['openSocket']>,
): Transport {
  const address = `${url.replace(/^http/, 'ws')}/graphql/v1`
  const sockets = new Map<string, SharedSocket>()
  const socketOf = (token: string): SharedSocket => {
    const present = sockets.get(token)
    if (present !== undefined) return present
    const opened = openSharedSocket({
      address,
      greeting: { apikey: key, authorization: `Bearer ${token}` },
      open,
      environment,
      waking,
      gone: () => {
        if (sockets.get(token) === opened) sockets.delete(token)
      },
    })
    sockets.set(token, opened)
    return opened
  }
  return ({ body, token }, sink, signal) =>
    new Promise<End>((resolve) => {
      try {
        const leave = socketOf(token).subscribe(body, { ...sink, end: resolve })
        signal.addEventListener('abort', () => {
          leave()
          resolve({ kind: 'completed' })
        })
      } catch (thrown) {
        // Browsers refuse a plain socket on a page with TLS.
        resolve(endOfFailure(thrown))
      }
    })
}
