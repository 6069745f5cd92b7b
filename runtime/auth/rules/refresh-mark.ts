import { createHash } from 'node:crypto'

/**
 * What access tokens say of the refresh token that came with them (spec/auth.md 3.5). It tells two tokens of one session
 * apart, and is too short for anybody to find a token by it.
 */
export const markOf = (refreshToken: string): string =>
  createHash('sha256').update(refreshToken, 'utf8').digest('hex').slice(0, 8)
