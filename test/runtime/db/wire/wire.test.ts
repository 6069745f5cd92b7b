import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encode, withoutName, writeRun, type Outgoing } from '../../../../runtime/db/wire/wire.ts'

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const zeroEnded = (text: string): Buffer => Buffer.from(`${text}\0`)
const valueBytes = (value: string | null): Buffer =>
  value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)])

const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

/** Bind to the unnamed portal, and Execute. */
const run = (name: string, values: readonly (string | null)[]): Buffer => {
  const given = [zeroEnded(''), zeroEnded(name), int16(0), int16(values.length), ...values.map(valueBytes), int16(0)]
  return Buffer.concat([message('B', ...given), message('E', zeroEnded(''), int32(0))])
}

const preparing = (name: string, text: string, describe: boolean): readonly Buffer[] => [
  message('P', zeroEnded(name), zeroEnded(text), int16(0)),
  ...(describe ? [message('D', Buffer.from('S'), zeroEnded(name))] : []),
]

/** The messages as the PostgreSQL manual has them (manual 54.7), put together piece by piece. */
const expected = ({ closed, statements, parsed, describe }: Outgoing): Buffer =>
  Buffer.concat([
    ...closed.map((name) => message('C', Buffer.from('S'), zeroEnded(name))),
    ...statements.flatMap((statement, index) => [
      ...(parsed.has(index) ? preparing(statement.name, statement.text, describe) : []),
      'run' in statement ? statement.run : run(statement.name, statement.values),
    ]),
    message('S'),
  ])

const name = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', ''))
const text = fc.oneof(
  name,
  // Around the lengths from which on texts are written in another way, and longer than the memory.
  fc
    .tuple(fc.constantFrom('a', 'é', '€', '😀'), fc.constantFrom(39, 40, 41, 4_095, 4_096, 20_000))
    .map(([unit, times]) => unit.repeat(times)),
)
const values = fc.oneof(
  { weight: 9, arbitrary: fc.array(fc.option(text), { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 9_000 }, () => null)) },
)
const statement = fc
  .record({ name, text, values, repeated: fc.boolean() })
  .map(({ repeated, ...bound }) => (repeated ? writeRun(bound) : bound))
const outgoing = fc
  .record({
    closed: fc.array(name, { maxLength: 3 }),
    statements: fc.array(statement, { maxLength: 4 }),
    describe: fc.boolean(),
  })
  .chain((sent) =>
    fc
      .subarray(sent.statements.map((_, index) => index))
      .map((places): Outgoing => ({ ...sent, parsed: new Set(places) })),
  )

test('a request is written as the manual has it, into memory of any size, which may have served another request', () => {
  const memories = [1_000, 16_384, 1_000_000].map((size) => Buffer.alloc(size, 0xff))
  fc.assert(
    fc.property(outgoing, (sent) => {
      for (const memory of memories) expect(encode(memory, sent).equals(expected(sent))).toBe(true)
    }),
    { numRuns: 150 },
  )
})

test('a run holds the Bind and Execute of its statement', () => {
  fc.assert(
    fc.property(name, values, (statement, given) => {
      expect(writeRun({ name: statement, text: '', values: given }).run.equals(run(statement, given))).toBe(true)
    }),
  )
})

test('a statement that was written with its name is written without it', () => {
  const values = fc.array(fc.option(text), { maxLength: 4 })
  fc.assert(
    fc.property(name, text, values, (named, sql, given) => {
      const statement = { name: named, text: sql, values: given }
      const whole = (one: Outgoing['statements'][number]): Outgoing => ({
        closed: [],
        statements: [one],
        parsed: new Set([0]),
        describe: false,
      })
      const bytes = encode(Buffer.alloc(1_000), whole(withoutName(writeRun(statement))))
      expect(bytes.equals(encode(Buffer.alloc(1_000), whole({ ...statement, name: '' })))).toBe(true)
    }),
  )
})
