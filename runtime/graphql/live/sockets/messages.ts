import { lookAt } from '../../http/request.ts'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'

export const subprotocol = 'graphql-transport-ws'

export type ClientMessage =
  | { readonly type: 'connection_init'; readonly payload: JsonObject }
  | { readonly type: 'ping' | 'pong'; readonly payload: string | undefined }
  /** The payload is the text of a request's body. */
  | { readonly type: 'subscribe'; readonly id: string; readonly payload: string }
  | { readonly type: 'complete'; readonly id: string }

/** Codes and reasons of the protocol, and of RFC 6455 section 7.4: 1001 makes clients reconnect. */
export const closings = {
  invalid: [4400, 'Invalid message received'],
  unauthorized: [4401, 'Unauthorized'],
  forbidden: [4403, 'Forbidden'],
  subprotocol: [4406, 'Subprotocol not acceptable'],
  initTimeout: [4408, 'Connection initialisation timeout'],
  secondInit: [4429, 'Too many initialisation requests'],
  tooMany: [4429, 'Too many sockets of this caller, or messages'],
  unavailable: [1013, 'Try again later'],
  tooLong: [1009, 'Message too long'],
  tooSlow: [1008, 'The message did not arrive in time'],
  goingAway: [1001, 'Going away'],
} as const satisfies Readonly<Record<string, readonly [code: number, reason: string]>>

export type Closing = readonly [code: number, reason: string]

/** The code with our own sentence, which fits a close frame (RFC 6455 section 5.5). */
export const closingWith = ([code]: Closing, reason: string): Closing => [code, reason.slice(0, 120)]

/** For an id that is in use. The id comes from the client and may be long. */
export const subscriberExists = (id: string): Closing => [4409, `Subscriber for ${id} already exists`.slice(0, 100)]

/** Longer ones are parsed part by part, like bodies. */
const shortMessage = 4_096
const longestId = 256

/** Null: not a message of the protocol. */
export function readMessage(text: string): ClientMessage | null {
  if (text.length <= shortMessage && parsed(text) === undefined) return null
  const { members } = lookAt(text)
  if (members === null) return null
  const valueOf = (name: string): unknown => parsed(members.get(name)?.text ?? 'null')
  const payload = members.get('payload')?.text.trim()
  const type = valueOf('type')
  switch (type) {
    case 'connection_init': {
      const value = parsed(payload ?? '{}')
      return value === null || isJsonObject(value) ? { type, payload: value ?? {} } : null
    }
    case 'ping':
    case 'pong':
      return { type, payload }
    case 'subscribe': {
      const id = valueOf('id')
      return isId(id) && payload?.startsWith('{') === true ? { type, id, payload } : null
    }
    case 'complete': {
      const id = valueOf('id')
      return isId(id) ? { type, id } : null
    }
    default:
      return null
  }
}

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= longestId

/** Undefined: not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const acknowledgement = '{"type":"connection_ack"}'

export const pong = (payload: string | undefined): string =>
  payload === undefined ? '{"type":"pong"}' : `{"type":"pong","payload":${payload}}`

/** The text before an answer, which is sent as Postgres printed it. */
export const beforeAnswer = (id: string): string => `{"id":${JSON.stringify(id)},"type":"next","payload":`
export const behindAnswer = '}'

/** @param errors JSON */
export const errorMessage = (id: string, errors: string): string =>
  `{"id":${JSON.stringify(id)},"type":"error","payload":${errors}}`

export const completeMessage = (id: string): string => `{"id":${JSON.stringify(id)},"type":"complete"}`
