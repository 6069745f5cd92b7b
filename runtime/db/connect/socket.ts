import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Sockets towards Postgres that read into one buffer again and again. Node's streams make a new one of 64 kB for every
 * read, which costs more than reading what a small request is answered with.
 */

/**
 * Receives the bytes that came; returns true if it keeps the buffer. Bytes that it does not keep are soon overwritten.
 */
export type TakeBytes = (bytes: Buffer) => boolean

/** As much as Node reads at once. */
export const bufferSize = 65_536

/** What is to read each of these sockets. */
const readers = new WeakMap<Duplex, { take: TakeBytes }>()

/** A socket that is not connected yet; until `readWith` it is like any other. */
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

/** From here on `take` alone reads a stream: one of `createSocket`, or any other, such as TLS on top of one. */
export function readWith(stream: Duplex, take: TakeBytes): void {
  stream.removeAllListeners('data')
  const reader = readers.get(stream)
  if (reader === undefined) stream.on('data', take)
  else reader.take = take
}

/** Goes on reading a stream that may have been paused; those of workers cannot be, and know nothing of it. */
export function readOn(stream: Duplex): void {
  if ('resume' in stream) stream.resume()
}
