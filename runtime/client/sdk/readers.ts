/** How values without a JSON type are read, where `codegen --scalars` asks for it. */

export type Reader = (value: unknown) => unknown

export type ReaderName = 'bigint' | 'Date'

export const readers: Readonly<Record<ReaderName, Reader>> = {
  bigint: (value) => BigInt(value as string),
  Date: readDate,
}

/** A timestamp without time zone is read as one in UTC; what no Date can hold, such as infinity, is an invalid one. */
function readDate(value: unknown): Date {
  const text = String(value)
  return new Date(/(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(text.slice(10)) ? text : `${text}Z`)
}
