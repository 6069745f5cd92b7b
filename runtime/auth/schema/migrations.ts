import { authSchema } from './auth-schema.ts'
import { guestWindows } from './guest-windows.ts'
import { mailRequests } from './mail-requests.ts'
import { recoverySessions } from './recovery-sessions.ts'
import { stateSchema } from './state-schema.ts'

/** One step from one version of our tables to the next: kept whole, or not at all. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/** Every step there is, in order. A step that was released is never changed: add one. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'schema auth', statements: authSchema },
  { version: 2, name: 'schema catalograph_auth', statements: stateSchema },
  { version: 3, name: 'requests for mails', statements: mailRequests },
  { version: 4, name: 'windows of guests', statements: guestWindows },
  { version: 5, name: 'sessions of recoveries', statements: recoverySessions },
]
