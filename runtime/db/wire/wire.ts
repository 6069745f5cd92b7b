import type { BoundStatement, PreparedText } from '../../contract/execution.ts'

/**
 * The messages of a request as one buffer, so that they leave in one write (PostgreSQL manual 54.7, message formats:
 * a type byte, a length that counts itself, then the body; numbers are big-endian, names end in a zero byte).
 */
interface Cursor {
  buffer: Buffer
  at: number
}

/** A statement with its Bind and Execute, written once for many requests. */
export interface WrittenStatement extends PreparedText {
  readonly run: Buffer
}

export type SentStatement = BoundStatement | WrittenStatement

export interface Outgoing {
  /** Prepared statements to give back. */
  readonly closed: readonly string[]
  readonly statements: readonly SentStatement[]
  /** The indexes of the statements that are parsed right before use; a statement without a name always is. */
  readonly parsed: ReadonlySet<number>
  /** Whether Postgres describes the columns of the parsed statement. */
  readonly describe: boolean
}

/** More bytes than anything written between two texts. */
const margin = 64
const longText = 4_096

/** The maximum size of a text; an exact count pays only for long ones. */
const roomFor = (text: string): number => (text.length < longText ? 3 * text.length : Buffer.byteLength(text))

const makeRoom = (cursor: Cursor, bytes: number): void => {
  const { buffer, at } = cursor
  if (at + bytes + margin <= buffer.length) return
  cursor.buffer = Buffer.allocUnsafeSlow(2 * (at + bytes + margin))
  buffer.copy(cursor.buffer, 0, 0, at)
}

const putInt16 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeUInt16BE(value, cursor.at)
}
const putInt32 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeInt32BE(value, cursor.at)
}

/** Up to about this length, writing character by character is faster than a call that leaves JavaScript. */
const shortText = 40

/** Writes a text in UTF-8; returns its end. */
const writeText = (buffer: Buffer, text: string, start: number): number => {
  const { length } = text
  if (length > shortText) return start + buffer.write(text, start, 'utf8')
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) return start + buffer.write(text, start, 'utf8')
    buffer[start + index] = unit
  }
  return start + length
}

const putText = (cursor: Cursor, text: string): void => {
  makeRoom(cursor, roomFor(text))
  const end = writeText(cursor.buffer, text, cursor.at)
  cursor.buffer[end] = 0
  cursor.at = end + 1
}

/** A parameter: its length in bytes, then its text; null is the length -1. */
const putValue = (cursor: Cursor, value: string | null): void => {
  makeRoom(cursor, value === null ? 0 : roomFor(value))
  if (value === null) return putInt32(cursor, -1)
  const start = cursor.at + 4
  const end = writeText(cursor.buffer, value, start)
  putInt32(cursor, end - start)
  cursor.at = end
}

/** Of every message: type and length. */
const header = 5

const messageTypes = { bind: 0x42, close: 0x43, describe: 0x44, execute: 0x45, parse: 0x50, sync: 0x53 }
const ofStatement = 0x53

/** Begins a message; returns its start for `endMessage`. */
const beginMessage = (cursor: Cursor, type: number): number => {
  const start = cursor.at
  cursor.buffer[start] = type
  cursor.at += header
  return start
}

/** Writes the length of a message, which is known when its body is complete. */
const endMessage = ({ buffer, at }: Cursor, start: number): void => void buffer.writeInt32BE(at - start - 1, start + 1)

/** Close and Describe of a prepared statement differ only in their type. */
const putNamed = (cursor: Cursor, type: 'close' | 'describe', name: string): void => {
  const start = beginMessage(cursor, messageTypes[type])
  cursor.buffer[cursor.at++] = ofStatement
  putText(cursor, name)
  endMessage(cursor, start)
}

/** Postgres infers the types of parameters. */
const putParse = (cursor: Cursor, name: string, text: string): void => {
  const start = beginMessage(cursor, messageTypes.parse)
  putText(cursor, name)
  putText(cursor, text)
  putInt16(cursor, 0)
  endMessage(cursor, start)
}

const putPreparing = (cursor: Cursor, { name, text }: SentStatement, describe: boolean): void => {
  putParse(cursor, name, text)
  if (describe) putNamed(cursor, 'describe', name)
}

/** Into the unnamed portal; no format codes, which means text for every parameter and every result column. */
const putBind = (cursor: Cursor, name: string, values: BoundStatement['values']): void => {
  const start = beginMessage(cursor, messageTypes.bind)
  putText(cursor, '')
  putText(cursor, name)
  putInt16(cursor, 0)
  putInt16(cursor, values.length)
  for (const value of values) putValue(cursor, value)
  putInt16(cursor, 0)
  endMessage(cursor, start)
}

/** The unnamed portal, without a limit of rows. */
const putExecute = (cursor: Cursor): void => {
  const start = beginMessage(cursor, messageTypes.execute)
  putText(cursor, '')
  putInt32(cursor, 0)
  endMessage(cursor, start)
}

const putRun = (cursor: Cursor, name: string, values: BoundStatement['values']): void => {
  putBind(cursor, name, values)
  putExecute(cursor)
}

const putWritten = (cursor: Cursor, bytes: Buffer): void => {
  makeRoom(cursor, bytes.length)
  cursor.at += bytes.copy(cursor.buffer, cursor.at)
}

const putSync = (cursor: Cursor): void => endMessage(cursor, beginMessage(cursor, messageTypes.sync))

/** For a statement that is sent repeatedly without changes. */
export const writeRun = ({ name, text, values }: BoundStatement): WrittenStatement => {
  const cursor: Cursor = { buffer: Buffer.allocUnsafeSlow(2 * margin), at: 0 }
  putRun(cursor, name, values)
  const run = Buffer.allocUnsafeSlow(cursor.at)
  cursor.buffer.copy(run)
  return { name, text, run }
}

/** Of a Bind: before its names, of which that of its portal is empty. */
const beforeName = header + 1

/** The same statement, parsed again for each use. */
export const withoutName = (statement: SentStatement): SentStatement => {
  if (!('run' in statement)) return { ...statement, name: '' }
  const { name, text, run: named } = statement
  const length = Buffer.byteLength(name)
  const run = Buffer.allocUnsafe(named.length - length)
  named.copy(run, 0, 0, beforeName)
  named.copy(run, beforeName, beforeName + length)
  run.writeInt32BE(named.readInt32BE(1) - length, 1)
  return { name: '', text, run }
}

/**
 * Encodes [Close]* ([Parse [Describe]] Bind Execute)* Sync. Closes come first, because an error skips all messages up
 * to Sync.
 * @param memory the buffer to write into; a buffer that is too short is not used
 */
export const encode = (memory: Buffer, { closed, statements, parsed, describe }: Outgoing): Buffer => {
  const cursor: Cursor = { buffer: memory, at: 0 }
  for (const name of closed) putNamed(cursor, 'close', name)
  statements.forEach((statement, index) => {
    if (parsed.has(index)) putPreparing(cursor, statement, describe)
    if ('run' in statement) putWritten(cursor, statement.run)
    else putRun(cursor, statement.name, statement.values)
  })
  putSync(cursor)
  return cursor.buffer.subarray(0, cursor.at)
}
