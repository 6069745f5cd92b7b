import type { DatabaseTime } from '../protocol/types.ts'

/** A time as Postgres prints or writes it into JSON, in UTC -> RFC 3339 with its fraction (spec/auth.md 3). */
export function rfc3339(time: DatabaseTime): string {
  return `${time.replace(' ', 'T').replace(/(?:\+00(?::?00)?|Z)?$/, '')}Z`
}
