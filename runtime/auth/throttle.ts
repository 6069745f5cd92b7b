/** Groups of endpoints that share a limit (section 10). */
export type LimitGroup = 'guests' | 'sign-up' | 'token' | 'verify' | 'factor'

/** Limits by source address, shared by all processes. */
export interface Throttle {
  /** Throws 429 `over_request_rate_limit` while the address is closed. */
  readonly refuseBanned: (source: string) => Promise<void>
  /** Takes one call of a group's allowance; throws 429 `over_request_rate_limit` when none is left. */
  readonly take: (group: LimitGroup, source: string) => Promise<void>
  /** Told of each 4xx that counts towards closing the address; see the column `counted` of routes.ts. Never rejects. */
  readonly failed: (source: string) => Promise<void>
}

/** No limits. */
export const noThrottle: Throttle = {
  refuseBanned: async () => undefined,
  take: async () => undefined,
  failed: async () => undefined,
}
