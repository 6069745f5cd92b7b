import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What may be echoed and logged: no blanks, no control characters, no length without end. */
const acceptable = /^[\w.:+/=-]{1,128}$/

/** The id that the client sent, when it is harmless, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && acceptable.test(sent) ? sent : randomUUID()
}
