import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Sockets towards Postgres that read into one reused buffer. Node's streams allocate 64 kB for every read, which costs
 * more than reading the answer of a small request.
 */

/** Receives bytes; returns true if it keeps the buffer. Bytes that it does not keep are soon overwritten. */
export type TakeBytes = (bytes: Buffer) => boolean

/** The size of Node's own read buffer. */
export const bufferSize = 65_536

/** The consumer of each socket. */
const readers = new WeakMap<Duplex, { take: TakeBytes }>()

/** Creates an unconnected socket; until `readWith` it behaves like any other. */
export function createSocket(): Socket {
  let buffer = Buffer.allocUnsafeSlow(bufferSize)
  let isKept = false
  const reader = {
    // pg listens to `data` while it connects.
    take: (bytes: Buffer): boolean => {
      socket.emit('data', bytes)
      return true
    },
  }
  const options: ConnectOpts & SocketConstructorOpts = {
    onread: {
      buffer: () => {
        if (isKept) buffer = Buffer.allocUnsafeSlow(bufferSize)
        isKept = false
        return buffer
      },
      callback: (length) => {
        isKept = reader.take(buffer.subarray(0, length))
        return true
      },
    },
  }
  const socket = new Socket(options)
  readers.set(socket, reader)
  return socket
}

/** From here on `take` alone reads the stream: one of `createSocket`, or any other, such as TLS on top of one. */
export function readWith(stream: Duplex, take: TakeBytes): void {
  stream.removeAllListeners('data')
  const reader = readers.get(stream)
  if (reader === undefined) stream.on('data', take)
  else reader.take = take
}

/** Resumes a stream that may have been paused; streams of Workers cannot be paused and have no such method. */
export function readOn(stream: Duplex): void {
  if ('resume' in stream) stream.resume()
}
