/** Orders texts by their UTF-8 bytes, as Postgres' "C" collation does; JavaScript's own order differs beyond U+FFFF. */
export const compareBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'))
