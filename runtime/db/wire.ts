import type { BoundStatement } from '../contract/execution.ts'

/**
 * The messages of a request as one buffer, so that they leave in one write (PostgreSQL manual 54.7, message formats:
 * a type byte, a length that counts itself, then the body; numbers are big-endian, names end in a zero byte).
 */
interface Cursor {
  readonly buffer: Buffer
  at: number
}

/** Parameters in the form in which they are sent, written once for many requests. */
export interface WrittenValues {
  readonly count: number
  readonly bytes: Buffer
}

/** A statement with its parameters: those that were written before come first. */
export interface SentStatement extends BoundStatement {
  readonly written?: WrittenValues
}

export interface Outgoing {
  /** Prepared statements to give back. */
  readonly closed: readonly string[]
  readonly statements: readonly SentStatement[]
  /** Which of them, by their places, are parsed right before they are used; one without a name always is. */
  readonly parsed: ReadonlySet<number>
  /** Whether Postgres shall tell the columns of what is parsed. */
  readonly describe: boolean
}

const header = 5
const textSize = (text: string): number => Buffer.byteLength(text) + 1

const namedSize = (name: string): number => header + 1 + textSize(name)
const parseSize = (name: string, text: string): number => header + textSize(name) + textSize(text) + 2
const valueSize = (value: string | null): number => 4 + (value === null ? 0 : Buffer.byteLength(value))
const bindSize = ({ name, written, values }: SentStatement): number =>
  header + 1 + textSize(name) + 6 + (written?.bytes.length ?? 0) + sum(values, valueSize)
const executeSize = header + 1 + 4
const syncSize = header

const sum = <T>(items: readonly T[], sizeOf: (item: T, index: number) => number): number => {
  let total = 0
  for (let index = 0; index < items.length; index += 1) total += sizeOf(items[index] as T, index)
  return total
}

const preparingSize = ({ name, text }: SentStatement, describe: boolean): number =>
  parseSize(name, text) + (describe ? namedSize(name) : 0)

const sizeOf = ({ closed, statements, parsed, describe }: Outgoing): number =>
  sum(closed, namedSize) +
  sum(
    statements,
    (statement, index) =>
      (parsed.has(index) ? preparingSize(statement, describe) : 0) + bindSize(statement) + executeSize,
  ) +
  syncSize

const putInt16 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeUInt16BE(value, cursor.at)
}
const putInt32 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeInt32BE(value, cursor.at)
}

/** Up to about this length, letters are written faster one by one than by a call that leaves JavaScript. */
const shortText = 40

/** Writes a text in UTF-8; answers where it ends. */
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
  const end = writeText(cursor.buffer, text, cursor.at)
  cursor.buffer[end] = 0
  cursor.at = end + 1
}

/** A parameter: its length in bytes, then its text; null is the length -1. */
const putValue = (cursor: Cursor, value: string | null): void => {
  if (value === null) return putInt32(cursor, -1)
  const start = cursor.at + 4
  const end = writeText(cursor.buffer, value, start)
  putInt32(cursor, end - start)
  cursor.at = end
}

export const writeValues = (values: readonly (string | null)[]): WrittenValues => {
  const cursor: Cursor = { buffer: Buffer.allocUnsafeSlow(sum(values, valueSize)), at: 0 }
  for (const value of values) putValue(cursor, value)
  return { count: values.length, bytes: cursor.buffer }
}

/** Types of messages, as ASCII letters. */
const messageTypes = { bind: 0x42, close: 0x43, describe: 0x44, execute: 0x45, parse: 0x50, sync: 0x53 }
const ofStatement = 0x53

/** Begins a message; answers where, for `endMessage`. */
const beginMessage = (cursor: Cursor, type: number): number => {
  const start = cursor.at
  cursor.buffer[start] = type
  cursor.at += header
  return start
}

/** Writes the length of a message, which is known when its body stands. */
const endMessage = ({ buffer, at }: Cursor, start: number): void => void buffer.writeInt32BE(at - start - 1, start + 1)

/** Close and Describe of a prepared statement differ in their type alone. */
const putNamed = (cursor: Cursor, type: 'close' | 'describe', name: string): void => {
  const start = beginMessage(cursor, messageTypes[type])
  cursor.buffer[cursor.at++] = ofStatement
  putText(cursor, name)
  endMessage(cursor, start)
}

/** Types of parameters are left to Postgres. */
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
const putBind = (cursor: Cursor, { name, written, values }: SentStatement): void => {
  const start = beginMessage(cursor, messageTypes.bind)
  putText(cursor, '')
  putText(cursor, name)
  putInt16(cursor, 0)
  putInt16(cursor, (written?.count ?? 0) + values.length)
  if (written !== undefined) cursor.at += written.bytes.copy(cursor.buffer, cursor.at)
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

const putSync = (cursor: Cursor): void => endMessage(cursor, beginMessage(cursor, messageTypes.sync))

/**
 * Encodes [Close]* ([Parse [Describe]] Bind Execute)* Sync. Closes stand first: an error skips whatever follows it up to Sync.
 */
export const encode = (outgoing: Outgoing): Buffer => {
  const cursor: Cursor = { buffer: Buffer.allocUnsafe(sizeOf(outgoing)), at: 0 }
  for (const name of outgoing.closed) putNamed(cursor, 'close', name)
  outgoing.statements.forEach((statement, index) => {
    if (outgoing.parsed.has(index)) putPreparing(cursor, statement, outgoing.describe)
    putBind(cursor, statement)
    putExecute(cursor)
  })
  putSync(cursor)
  return cursor.buffer
}
