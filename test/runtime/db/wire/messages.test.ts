import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMessageReader, readColumns, readError, readRow } from '../../../../runtime/db/wire/messages.ts'

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, body])
}

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const column = (text: string | null): readonly Buffer[] =>
  text === null ? [int32(-1)] : [int32(Buffer.byteLength(text)), Buffer.from(text)]

const dataRow = (row: readonly (string | null)[]): Buffer =>
  message('D', Buffer.concat([int16(row.length), ...row.flatMap(column)]))

/**
 * The rows in some bytes that come in pieces of these lengths; the last piece is what is left. Pieces are overwritten, as
 * those of a socket are by the next ones.
 */
const rowsIn = (bytes: Buffer, lengths: readonly number[]): unknown[] => {
  const rows: unknown[] = []
  const { read } = createMessageReader((type, body, start) => rows.push(type === 0x44 ? readRow(body, start) : type))
  const readPiece = (from: number, to: number): void => {
    const piece = Buffer.from(bytes.subarray(from, to))
    read(piece)
    piece.fill(0xff)
  }
  let from = 0
  for (const length of lengths) readPiece(from, (from += length))
  readPiece(from, bytes.length)
  return rows
}

test('messages come out whole, wherever the bytes were cut', () => {
  const rows = fc.array(fc.array(fc.option(fc.string({ unit: 'binary' })), { maxLength: 4 }), { maxLength: 6 })
  fc.assert(
    fc.property(rows, fc.array(fc.nat(40)), (given, lengths) => {
      const bytes = Buffer.concat([...given.map(dataRow), message('Z', Buffer.from('I'))])
      expect(rowsIn(bytes, lengths)).toEqual([...given, 0x5a])
    }),
  )
})

test('the missing part of a message is known as soon as its length is', () => {
  const { read, missing } = createMessageReader(() => undefined)
  const bytes = Buffer.concat([message('Z', Buffer.from('I')), dataRow(['x'.repeat(100_000)])])
  const told = [4, 6, 11, 16, 50_000, bytes.length].map((end, index, ends) => {
    read(bytes.subarray(ends[index - 1] ?? 0, end))
    return missing()
  })
  const rest = bytes.length - 16
  expect(told).toEqual([1, 0, rest + 5, rest, bytes.length - 50_000, 0])
})

test('columns are known by name and type, whatever stands between', () => {
  const described = (name: string, type: number): Buffer =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(7), int16(8), int32(type), int16(-1), int32(-1), int16(0)])
  const body = Buffer.concat([Buffer.alloc(3), int16(2), described('größe', 23), described('', 1184)])
  expect(readColumns(body, 3)).toEqual([
    { name: 'größe', dataTypeID: 23 },
    { name: '', dataTypeID: 1184 },
  ])
})

test('an error has its SQLSTATE and its texts', () => {
  const fields = ['SERROR', 'VERROR', 'C23505', 'Mdoppelt: »a«', 'DKey (id)=(1) already exists.', 'nposts_pkey', 'Fx.c']
  const bytes = message('E', Buffer.from(`${fields.join('\0')}\0\0`))
  expect(readError(bytes, 5)).toMatchObject({
    message: 'doppelt: »a«',
    severity: 'ERROR',
    code: '23505',
    detail: 'Key (id)=(1) already exists.',
    constraint: 'posts_pkey',
    hint: undefined,
    length: bytes.length - 1,
  })
})
