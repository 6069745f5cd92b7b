import { connect, type Socket } from 'node:net'

/**
 * A keep-alive HTTP/1.1 connection that costs the machine as little as possible, since it shares the cores with what it
 * measures: requests are bytes made beforehand, answers are cut at their Content-Length and not parsed further.
 */

export interface HttpAnswer {
  readonly status: number
  /** The head without the empty line that ends it. */
  readonly head: string
  readonly body: Buffer
}

export interface HttpConnection {
  /** Sends one request; the one before must have been answered. Rejects when the connection breaks. */
  readonly send: (request: Buffer) => Promise<HttpAnswer>
  readonly close: () => void
}

export interface RequestParts {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is a text. */
  readonly body?: unknown
}

/** The bytes of a request. */
export const httpRequest = ({ method = 'POST', path, headers = {}, body }: RequestParts): Buffer => {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const all: Readonly<Record<string, string>> = {
    host: '127.0.0.1',
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
}

const endOfHead = Buffer.from('\r\n\r\n')

interface Expected {
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (error: Error) => void
}

/** The length of the body after a head. Chunked answers are refused: none of the measured servers sends them. */
const bodyLength = (head: string): number => {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  if (/^HTTP\/1\.1 (?:204|304)/.test(head)) return 0
  throw new Error(`An answer without Content-Length:\n${head}`)
}

/** The first complete answer in the bytes, or null while some are missing. */
const cutAnswer = (bytes: Buffer): HttpAnswer | null => {
  const end = bytes.indexOf(endOfHead)
  if (end === -1) return null
  const head = bytes.toString('latin1', 0, end)
  const [from, length] = [end + endOfHead.length, bodyLength(head)]
  if (bytes.length < from + length) return null
  return { status: Number(head.slice(9, 12)), head, body: bytes.subarray(from, from + length) }
}

const receive = (socket: Socket, take: () => Expected | null): void => {
  let chunks: Buffer[] = []
  const fail = (error: Error): void => take()?.reject(error)
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    try {
      const answer = cutAnswer(chunks.length === 1 ? chunk : Buffer.concat(chunks))
      if (answer === null) return
      chunks = []
      take()?.resolve(answer)
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server closed the connection.')))
}

/** @param localAddress the source of the connection, one of the loopback addresses */
export const openConnection = (port: number, localAddress = '127.0.0.1'): Promise<HttpConnection> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true })
    let expected: Expected | null = null
    const take = (): Expected | null => {
      const taken = expected
      expected = null
      return taken
    }
    socket.once('error', reject)
    socket.once('connect', () => {
      receive(socket, take)
      const send: HttpConnection['send'] = (request) =>
        new Promise((answered, failed) => {
          if (socket.destroyed) return failed(new Error('The connection is closed.'))
          expected = { resolve: answered, reject: failed }
          socket.write(request)
        })
      resolve({ send, close: () => socket.destroy() })
    })
  })

/** Sends one request on a separate connection. */
export const sendOnce = async (port: number, request: Buffer): Promise<HttpAnswer> => {
  const connection = await openConnection(port)
  try {
    return await connection.send(request)
  } finally {
    connection.close()
  }
}
