import type { UserRow } from '../protocol/records.ts'
import { defineAction, defineLookup, userColumns } from './define.ts'
import { guessesIn, type TakenGuess } from './guesses.ts'
import { ofAddress } from './users.ts'

/**
 * catalograph_auth.password_guesses and user_devices: wrong passwords between two sign-ins (spec/auth.md 4.4). Counts
 * are stored under a hash of the address, whether or not it has an account; devices under the user, so that they
 * outlive a change of address. A sign-in ends them: see insertSession.
 */

const { taken, verdict, release } = guessesIn({ table: 'password_guesses', subject: 'address_hash', free: 30 })

export interface TakenPasswordGuess extends TakenGuess {
  /** Null: no user has the address. */
  readonly user: UserRow | null
}

/**
 * Finds the user of an address and reserves a guess of the password in one statement, so that a sign-in has no further
 * ones. It does not wait for the disk: a crash of the database may lose the last guesses.
 */
export const takePasswordGuess = defineLookup<TakenPasswordGuess, [email: string, addressHash: Buffer, device: Buffer]>(
  'auth.password-guesses.take',
  `with quick as materialized (select set_config('synchronous_commit', 'off', true)),
  found as materialized (select ${userColumns} ${ofAddress}),
  asking as materialized (
    select exists (
      select from catalograph_auth.user_devices d join found on found.id = d.user_id where d.device = $3) as known
    from quick
  ), ${taken}
  select (select to_json(found) from found) as user, ${verdict}`,
)

/** The password was right, or was not compared. */
export const givePasswordGuessBack = defineAction<[known: boolean, addressHash: Buffer]>(
  'auth.password-guesses.give-back',
  release,
)

export interface PasswordChange {
  readonly userId: string
  /** Null: the user has no address. */
  readonly addressHash: Buffer | null
  /** Session and device of the user who sets it; null: an administrator does. */
  readonly sessionId: string | null
  readonly device: Buffer | null
}

/** After a change of the password: clears guesses of the old one, and all devices except that of the change. */
export const resetGuesses = defineAction<[by: PasswordChange]>(
  'auth.password-guesses.reset',
  `with counts as (delete from catalograph_auth.password_guesses where address_hash = $2),
  own as (delete from catalograph_auth.session_guesses where session_id = $3::uuid)
  delete from catalograph_auth.user_devices where user_id = $1::uuid and device is distinct from $4::bytea`,
  ({ userId, addressHash, sessionId, device }) => [userId, addressHash, sessionId, device],
)
