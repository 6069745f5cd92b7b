import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { bodyBytes } from '../../../http/bodies.ts'
import type { Holding } from '../../../lib/byte-budget.ts'
import type { GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { beforeAnswer, behindAnswer, completeMessage, errorMessage, type Closing } from './messages.ts'

/** Writes to a socket: JSON that Postgres printed is sent unchanged. */
export interface SocketOutlet {
  /** False: earlier data are not yet sent. */
  readonly isWritable: () => boolean
  readonly text: (message: string) => void
  readonly next: (id: string, body: GraphqlResponse['body']) => void
  /** The last message of an operation, or its answer and the last message. */
  readonly end: (id: string, response: GraphqlResponse) => void
  readonly close: (closing: Closing) => void
}

/** Shorter answers are copied into one frame with their envelope. */
const shortBytes = 16_384

/** The time limit of the closing handshake, in milliseconds. */
const goodbyeMs = 1_000

/** @param unsent counts bytes that the client has yet to read, and is released afterwards */
export function createOutlet(socket: WebSocket, stream: Duplex, unsent: Holding): SocketOutlet {
  const isOpen = (): boolean => socket.readyState === socket.OPEN
  const isWritable = (): boolean => isOpen() && !stream.writableNeedDrain
  const next: SocketOutlet['next'] = (id, answer) => {
    if (!isOpen()) return
    const body = bodyBytes(answer)
    const before = beforeAnswer(id)
    if (body.length <= shortBytes) {
      socket.send(Buffer.concat([Buffer.from(before), body, Buffer.from(behindAnswer)]), { binary: false })
    } else {
      socket.send(before, { binary: false, fin: false })
      socket.send(body, { binary: false, fin: false })
      socket.send(behindAnswer, { binary: false, fin: true })
    }
    if (!isWritable()) unsent.force(body.length)
  }
  const text = (message: string): void => {
    if (isOpen()) socket.send(message)
  }
  return {
    isWritable,
    text,
    next,
    end: (id, response) => {
      const { outcome, body } = response
      if (outcome !== 'ok' && outcome !== 'failed') return text(errorMessage(id, errorsOf(body)))
      next(id, body)
      text(completeMessage(id))
    },
    close: ([code, reason]) => {
      socket.close(code, reason)
      setTimeout(() => socket.terminate(), goodbyeMs).unref()
    },
  }
}

/** A refusal contains no numbers of Postgres. */
const errorsOf = (body: GraphqlResponse['body']): string =>
  JSON.stringify((JSON.parse(body.toString()) as { readonly errors: unknown }).errors)
