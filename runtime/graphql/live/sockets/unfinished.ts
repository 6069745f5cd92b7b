import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { longestToken } from '../../../identity/jwt.ts'
import type { ByteBudget } from '../../../lib/byte-budget.ts'
import type { SetDeadline } from '../../../lib/timers.ts'
import { closings, type Closing } from './messages.ts'

/** Before the acknowledgement, for a token and the rest of `connection_init`. In bytes. */
const longestBefore = longestToken + 16_384

/** A shorter message is neither counted nor timed: almost all are shorter. */
const uncounted = 16_384

/** The time for each mebibyte of a message, in milliseconds: that of a body. */
const sendingMs = 10_000

/** RFC 6455 section 5.2: the header of a control frame of a client. */
const controlHeader = 6

export interface UnfinishedParts {
  readonly bodyLimitBytes: number
  /** The memory that incomplete bodies share. */
  readonly bodies: ByteBudget
  readonly setDeadline: SetDeadline
}

/**
 * Counts the bytes of a message until it is complete, since `ws` keeps its fragments: before the acknowledgement up to
 * the length of `connection_init`, afterwards like the body of a request. `refuse` is called if there are too many, or
 * if the message does not arrive in time.
 * @param source the key of the sender's share
 */
export function countUnfinished(
  { bodyLimitBytes, bodies, setDeadline }: UnfinishedParts,
  socket: WebSocket,
  stream: Duplex,
  source: string,
  isAcknowledged: () => boolean,
  refuse: (closing: Closing) => void,
): void {
  const holding = bodies.open({ party: source })
  let bytes = 0
  let held = 0
  let stopClock: (() => void) | null = null
  const finish = (): void => {
    bytes = 0
    if (stopClock === null) return
    stopClock()
    stopClock = null
    held = 0
    holding.release()
  }
  const onBytes = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes <= uncounted) return
    if (!isAcknowledged() && bytes > longestBefore) return refuse(closings.tooLong)
    const limitMs = sendingMs * Math.max(1, bodyLimitBytes / 1_048_576)
    stopClock ??= setDeadline(limitMs, () => refuse(closings.tooSlow))
    if (bytes <= held) return
    if (!holding.take(bytes - held)) return refuse(closings.unavailable)
    held = bytes
  }
  const onControl = (data: Buffer): void => {
    bytes = Math.max(0, bytes - controlHeader - data.length)
  }
  // Before the reader of `ws`, which reports a message as soon as it has read its last byte.
  stream.prependListener('data', onBytes)
  socket.on('message', finish)
  socket.on('ping', onControl)
  socket.on('pong', onControl)
  socket.once('close', finish)
}
