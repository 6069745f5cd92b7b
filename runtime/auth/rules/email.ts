/** The fault of an address; null: none (spec/auth.md 4.2). */
export type EmailFault = 'malformed' | 'too-long' | null

/** RFC 5322 atoms, dots anywhere among them. */
const local = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+$/
/** RFC 1035 section 2.3.1, digits first allowed by RFC 1123. */
const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const longest = 255

export function judgeEmail(address: string): EmailFault {
  if (address.length > longest) return 'too-long'
  const at = address.lastIndexOf('@')
  if (at < 1) return 'malformed'
  const domain = address.slice(at + 1)
  return local.test(address.slice(0, at)) && domain.split('.').every((one) => label.test(one)) ? null : 'malformed'
}

/** The form in which addresses are stored and compared. Blanks stay: they make it malformed. */
export function normalEmail(address: string): string {
  return address.toLowerCase()
}
