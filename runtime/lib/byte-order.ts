/** Surrogates: without them, JavaScript orders as UTF-8 does. */
const beyond = /[\ud800-\udfff]/

/** Orders texts by their UTF-8 bytes, as Postgres' "C" collation does; JavaScript's own order differs beyond U+FFFF. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  if (!beyond.test(a) && !beyond.test(b)) return a < b ? -1 : 1
  return Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'))
}
