import { own } from './own.ts'

const table = 'catalograph_auth.recovery_sessions'

/**
 * Sessions that the mail of a reset began: who has one may set a password without knowing the old one
 * (spec/auth.md 5.2). Their method says no more than `otp`, as that of every mail does.
 */
export const recoverySessions: readonly string[] = [
  `create table ${table} (
    session_id uuid primary key references auth.sessions (id) on delete cascade
  )`,
  own(`table ${table}`),
]
