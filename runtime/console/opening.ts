import { randomBytes, timingSafeEqual } from 'node:crypto'

/** A link that opens the dashboard signed in: once, and only on this machine. */
export interface DashboardLink {
  readonly code: string
  /** The key for the code, the first time; null for everything else. @param address of the connection */
  readonly spend: (code: string, address: string) => string | null
}

/** IPv4 127.0.0.0/8 and ::1, also as IPv4-mapped IPv6 (RFC 1122 section 3.2.1.3, RFC 4291 section 2.5.3). */
const isLoopback = (address: string): boolean => /^(?:::ffff:)?127\.|^::1$/.test(address)

export function createDashboardLink(key: string): DashboardLink {
  const code = randomBytes(24).toString('base64url')
  let isSpent = false
  return {
    code,
    spend: (given, address) => {
      const [expected, found] = [Buffer.from(code), Buffer.from(given)]
      if (isSpent || !isLoopback(address) || found.length !== expected.length) return null
      isSpent = timingSafeEqual(expected, found)
      return isSpent ? key : null
    },
  }
}
