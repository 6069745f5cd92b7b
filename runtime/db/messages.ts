import pg from 'pg'
import type { Cell, Row } from '../contract/execution.ts'
import type { TakeBytes } from './socket.ts'

/**
 * What Postgres sends on a connection that is set up, read by hand: a request is answered by a dozen messages, of which only its
 * rows are worth an object (PostgreSQL manual 54.7: a type byte, a length that counts itself, then the body).
 */

/** Types of messages, as ASCII letters. All others say nothing that a request needs. */
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

/** Is handed a message: its type, and its body from `start` on. */
export type TakeMessage = (type: number, bytes: Buffer, start: number) => void

const header = 5

/**
 * Cuts what a socket brings into messages. One that comes in parts is put together once, when it is whole: until then
 * its parts are kept, which is what is told of each chunk.
 */
export function createMessageReader(take: TakeMessage): TakeBytes {
  let parts: Buffer[] = []
  let held = 0
  let wanted = header
  return (chunk) => {
    parts.push(chunk)
    held += chunk.length
    if (held < wanted) return true
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts, held)
    let at = 0
    for (;;) {
      wanted = at + header <= bytes.length ? 1 + bytes.readUInt32BE(at + 1) : header
      if (at + wanted > bytes.length) break
      take(bytes[at] ?? 0, bytes, at + header)
      at += wanted
    }
    parts = at < bytes.length ? [bytes.subarray(at)] : []
    held = bytes.length - at
    return held > 0
  }
}

/** From about this many bytes on, making a string of them and bytes again costs more than copying them. */
const longText = 1_024

const readCell = (bytes: Buffer, start: number, end: number): Cell =>
  end - start < longText ? bytes.toString('utf8', start, end) : Buffer.from(bytes.subarray(start, end))

/** DataRow: for each column the length of its text, or -1 for null, and the text. */
export function readRow(bytes: Buffer, start: number): Row {
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

/** A column as Postgres describes it: the number of its type is what a parser of its text is found by. */
export type Column = Pick<pg.FieldDef, 'name' | 'dataTypeID'>

/** What stands between a column's name and the number of its type, and after that: table, number; size, modifier, format. */
const beforeType = 6
const afterType = 8

/** RowDescription. */
export function readColumns(bytes: Buffer, start: number): readonly Column[] {
  const columns: Column[] = []
  let at = start + 2
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const end = bytes.indexOf(0, at)
    const type = end + 1 + beforeType
    columns.push({ name: bytes.toString('utf8', at, end), dataTypeID: bytes.readUInt32BE(type) })
    at = type + 4 + afterType
  }
  return columns
}

/** ErrorResponse (manual 54.8): fields of a letter and a text each. Those that are not listed are of no use to us. */
const errorFields = { S: 'severity', C: 'code', D: 'detail', H: 'hint', W: 'where', n: 'constraint', R: 'routine' } as const

export function readError(bytes: Buffer, start: number): pg.DatabaseError {
  const fields = new Map<string, string>()
  for (let at = start; bytes[at] !== 0; ) {
    const end = bytes.indexOf(0, at)
    fields.set(bytes.toString('latin1', at, at + 1), bytes.toString('utf8', at + 1, end))
    at = end + 1
  }
  const error = new pg.DatabaseError(fields.get('M') ?? '', bytes.readUInt32BE(start - 4), 'error')
  for (const [letter, name] of Object.entries(errorFields)) error[name] = fields.get(letter)
  return error
}
