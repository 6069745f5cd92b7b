/** Readers of values without a JSON type, for `codegen --scalars`. */

export type Reader = (value: unknown) => unknown

export type ReaderName = 'bigint' | 'Date'

export const readers: Readonly<Record<ReaderName, Reader>> = {
  bigint: (value) => BigInt(value as string),
  Date: readDate,
}

/** A timestamp without time zone is read as UTC; a value beyond Date, such as infinity, becomes an invalid Date. */
function readDate(value: unknown): Date {
  const text = String(value)
  return new Date(/(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(text.slice(10)) ? text : `${text}Z`)
}
