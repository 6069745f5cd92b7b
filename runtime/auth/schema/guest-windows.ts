import { own } from './own.ts'

const table = 'catalograph_auth.guest_windows'

/** When the guests of the last hour came from a source address, oldest first (spec/auth.md 10). */
export const guestWindows: readonly string[] = [
  `create table ${table} (
    source text primary key,
    taken timestamptz[] not null,
    updated_at timestamptz not null default now()
  )`,
  own(`table ${table}`),
  // Guests had a token bucket before, which let twice as many come within their first hour.
  `delete from catalograph_auth.throttles where limit_group = 'guests'`,
]
