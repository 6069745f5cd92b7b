import type { BoundStatement } from '../contract/execution.ts'

/**
 * The messages of a request as one buffer, so that they leave in one write (PostgreSQL manual 54.7, message formats:
 * a type byte, a length that counts itself, then the body; numbers are big-endian, names end in a zero byte).
 */
interface Cursor {
  readonly buffer: Buffer
  at: number
}

export interface Step {
  readonly statement: BoundStatement
  /** Whether it is parsed right before it is used; one without a name always is. */
  readonly parse: boolean
}

export interface Outgoing {
  /** Prepared statements to give back. */
  readonly closed: readonly string[]
  readonly steps: readonly Step[]
  /** Whether Postgres shall tell the columns of what is parsed. */
  readonly describe: boolean
}

const header = 5
const textSize = (text: string): number => Buffer.byteLength(text) + 1

const namedSize = (name: string): number => header + 1 + textSize(name)
const parseSize = (name: string, text: string): number => header + textSize(name) + textSize(text) + 2
const valueSize = (value: string | null): number => 4 + (value === null ? 0 : Buffer.byteLength(value))
const bindSize = ({ name, values }: BoundStatement): number =>
  values.reduce((size, value) => size + valueSize(value), header + 1 + textSize(name) + 6)
const executeSize = header + 1 + 4
const syncSize = header

const sum = <T>(items: Iterable<T>, sizeOf: (item: T) => number): number => {
  let total = 0
  for (const item of items) total += sizeOf(item)
  return total
}

const stepSize = ({ statement, parse }: Step, describe: boolean): number =>
  (parse ? parseSize(statement.name, statement.text) : 0) +
  (parse && describe ? namedSize(statement.name) : 0) +
  bindSize(statement) +
  executeSize

const sizeOf = ({ closed, steps, describe }: Outgoing): number =>
  sum(closed, namedSize) + sum(steps, (step) => stepSize(step, describe)) + syncSize

const putByte = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeUInt8(value, cursor.at)
}
const putInt16 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeUInt16BE(value, cursor.at)
}
const putInt32 = (cursor: Cursor, value: number): void => {
  cursor.at = cursor.buffer.writeInt32BE(value, cursor.at)
}
const putText = (cursor: Cursor, text: string): void => {
  cursor.at += cursor.buffer.write(text, cursor.at, 'utf8')
  putByte(cursor, 0)
}

/** A parameter: its length in bytes, then its text; null is the length -1. */
const putValue = (cursor: Cursor, value: string | null): void => {
  if (value === null) return putInt32(cursor, -1)
  const length = cursor.buffer.write(value, cursor.at + 4, 'utf8')
  putInt32(cursor, length)
  cursor.at += length
}

const putMessage = (cursor: Cursor, type: string, body: () => void): void => {
  const start = cursor.at
  cursor.at += header
  body()
  cursor.buffer.write(type, start, 'latin1')
  cursor.buffer.writeInt32BE(cursor.at - start - 1, start + 1)
}

/** Close and Describe of a prepared statement differ in their type alone. */
const putNamed = (cursor: Cursor, type: 'C' | 'D', name: string): void =>
  putMessage(cursor, type, () => {
    cursor.at += cursor.buffer.write('S', cursor.at, 'latin1')
    putText(cursor, name)
  })

/** Types of parameters are left to Postgres. */
const putParse = (cursor: Cursor, name: string, text: string): void =>
  putMessage(cursor, 'P', () => {
    putText(cursor, name)
    putText(cursor, text)
    putInt16(cursor, 0)
  })

/** Into the unnamed portal; no format codes, which means text for every parameter and every result column. */
const putBind = (cursor: Cursor, { name, values }: BoundStatement): void =>
  putMessage(cursor, 'B', () => {
    putText(cursor, '')
    putText(cursor, name)
    putInt16(cursor, 0)
    putInt16(cursor, values.length)
    for (const value of values) putValue(cursor, value)
    putInt16(cursor, 0)
  })

/** The unnamed portal, without a limit of rows. */
const putExecute = (cursor: Cursor): void =>
  putMessage(cursor, 'E', () => {
    putText(cursor, '')
    putInt32(cursor, 0)
  })

/**
 * Encodes [Close]* ([Parse [Describe]] Bind Execute)* Sync. Closes stand first: an error skips whatever follows it up to Sync.
 */
export const encode = (outgoing: Outgoing): Buffer => {
  const cursor: Cursor = { buffer: Buffer.allocUnsafe(sizeOf(outgoing)), at: 0 }
  for (const name of outgoing.closed) putNamed(cursor, 'C', name)
  for (const { statement, parse } of outgoing.steps) {
    if (parse) putParse(cursor, statement.name, statement.text)
    if (parse && outgoing.describe) putNamed(cursor, 'D', statement.name)
    putBind(cursor, statement)
    putExecute(cursor)
  }
  putMessage(cursor, 'S', () => undefined)
  return cursor.buffer
}
