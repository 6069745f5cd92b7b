import pg from 'pg'
import type { Cell, ResultRow } from '../../contract/execution.ts'
import { Socket, type ConnectOpts, type SocketConstructorOpts } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * Reads the messages of an established connection without a library: a request is answered by a dozen messages, of
 * which only its rows deserve an object (PostgreSQL manual 54.7: a type byte, a length that includes itself, then the
 * body).
 */

/** Types of messages, as ASCII letters. A request needs no others. */
export const messageTypes = {
  parseComplete: 0x31,
  bindComplete: 0x32,
  commandComplete: 0x43,
  dataRow: 0x44,
  errorResponse: 0x45,
  emptyQueryResponse: 0x49,
  rowDescription: 0x54,
  readyForQuery: 0x5a,
} as const

/** Receives a message: its type, and its body from `start` on. */
type TakeMessage = (type: number, bytes: Buffer, start: number) => void

const header = 5

interface MessageReader {
  /** Keeps none of these bytes. */
  readonly read: (chunk: Buffer) => void
  /** The bytes that are missing of a partially received message. */
  readonly missing: () => number
}

const nothing = Buffer.alloc(0)

/**
 * Splits the bytes of a socket into messages. A message that comes in parts is gathered in a buffer of its own length,
 * which is allocated with the second part: until then the consumer may stop reading.
 */
export function createMessageReader(take: TakeMessage): MessageReader {
  let gathered = nothing
  let there = 0
  let wanted = header
  /** Adds as many bytes as are missing; returns the end index in the chunk. */
  const gather = (chunk: Buffer, at: number): number => {
    if (gathered.length < wanted) {
      const longer = Buffer.allocUnsafeSlow(wanted)
      gathered.copy(longer, 0, 0, there)
      gathered = longer
    }
    const end = Math.min(chunk.length, at + wanted - there)
    chunk.copy(gathered, there, at, end)
    there += end - at
    if (there === header) wanted = lengthAt(gathered, 0)
    return end
  }
  const finish = (chunk: Buffer): number => {
    let at = 0
    while (there < wanted && at < chunk.length) at = gather(chunk, at)
    if (there < wanted) return at
    const whole = gathered
    gathered = nothing
    there = 0
    take(whole[0] ?? 0, whole, header)
    return at
  }
  return {
    read: (chunk) => {
      let at = there > 0 ? finish(chunk) : 0
      while (at < chunk.length) {
        wanted = at + header <= chunk.length ? lengthAt(chunk, at) : header
        if (at + wanted > chunk.length) break
        take(chunk[at] ?? 0, chunk, at + header)
        at += wanted
      }
      if (at === chunk.length) return
      gathered = Buffer.from(chunk.subarray(at))
      there = gathered.length
    },
    missing: () => (there === 0 ? 0 : wanted - there),
  }
}

const lengthAt = (bytes: Buffer, at: number): number => 1 + bytes.readUInt32BE(at + 1)

/** From about this many bytes on, making a string of them and bytes again costs more than copying them. */
const longText = 1_024

/** A message longer than the read buffer was gathered in a buffer of its own, which the cell may keep. */
const readCell = (bytes: Buffer, start: number, end: number): Cell => {
  if (end - start < longText) return bytes.toString('utf8', start, end)
  const text = bytes.subarray(start, end)
  return end - start < bufferSize ? Buffer.from(text) : text
}

/** DataRow: for each column the length of its text, or -1 for null, and the text. */
export function readRow(bytes: Buffer, start: number): ResultRow {
  const row: Cell[] = []
  let at = start + 2
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const length = bytes.readInt32BE(at)
    at += 4
    row.push(length < 0 ? null : readCell(bytes, at, at + length))
    at += Math.max(0, length)
  }
  return row
}

/** A column as Postgres describes it: the OID of its type selects the parser of its text. */
export type ResultColumn = Pick<pg.FieldDef, 'name' | 'dataTypeID'>

/** The bytes between a column's name and its type OID, and after that: table, number; size, modifier, format. */
const beforeType = 6
const afterType = 8

/** RowDescription. */
export function readColumns(bytes: Buffer, start: number): readonly ResultColumn[] {
  const columns: ResultColumn[] = []
  let at = start + 2
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const end = bytes.indexOf(0, at)
    const type = end + 1 + beforeType
    columns.push({ name: bytes.toString('utf8', at, end), dataTypeID: bytes.readUInt32BE(type) })
    at = type + 4 + afterType
  }
  return columns
}

/** ErrorResponse (manual 54.8): fields of a letter and a text each. Fields that are not listed are not needed. */
const errorFields = {
  S: 'severity',
  C: 'code',
  D: 'detail',
  H: 'hint',
  W: 'where',
  n: 'constraint',
  F: 'file',
  R: 'routine',
} as const

export function readError(bytes: Buffer, start: number): pg.DatabaseError {
  const fields = new Map<string, string>()
  for (let at = start; bytes[at] !== 0;) {
    const end = bytes.indexOf(0, at)
    fields.set(bytes.toString('latin1', at, at + 1), bytes.toString('utf8', at + 1, end))
    at = end + 1
  }
  const error = new pg.DatabaseError(fields.get('M') ?? '', bytes.readUInt32BE(start - 4), 'error')
  for (const [letter, name] of Object.entries(errorFields)) error[name] = fields.get(letter)
  return error
}

/**
 * Sockets towards Postgres that read into one reused buffer. Node's streams allocate 64 kB for every read, which costs
 * more than reading the answer of a small request.
 */

/** Receives bytes; returns true if it keeps the buffer. Bytes that it does not keep are soon overwritten. */
type TakeBytes = (bytes: Buffer) => boolean

/** The size of Node's own read buffer. */
const bufferSize = 65_536

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
