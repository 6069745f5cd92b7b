import { randomUUID } from 'node:crypto'
import { newRefreshToken } from '../../../runtime/auth/accounts/sign-in.ts'
import { newTotpSecret } from '../../../runtime/auth/rules/totp.ts'
import { putOneTimeToken, type TokenSlot } from '../../../runtime/auth/store/one-time-tokens.ts'
import type { AuthTools } from '../../../runtime/auth/accounts/tools.ts'
import { signToken } from '../../../runtime/identity/jwt.ts'
import { secret } from '../auth.ts'
import type { TestDatabase } from '../database.ts'
import type { Enrolled } from '../totp.ts'

/** A user with all kinds of state, written by SQL: sessions that were refreshed, a factor, mails under way. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly newEmail: string
  readonly sessions: readonly SessionAtStart[]
  readonly factor: Enrolled
  readonly mailed: Readonly<Record<MailedSlot, MailedToken>>
}

/** Spent long ago: `old`, then `parent`, whose child is `first`. */
export interface SessionAtStart {
  readonly id: string
  readonly old: string
  readonly parent: string
  readonly first: string
  readonly access: string
}

export const mailedSlots = [
  'recovery',
  'email_change_current',
  'email_change_new',
] as const satisfies readonly TokenSlot[]
export type MailedSlot = (typeof mailedSlots)[number]

export interface MailedToken {
  readonly address: string
  readonly code: string
  readonly token: string
  /** Guesses that were taken before. */
  readonly tries: number
}

export interface PersonOptions {
  readonly sessions: number
  /** Guesses of each code that were taken before. */
  readonly tries: number
}

const insertPerson = `
  with person as (
    insert into auth.users (instance_id, id, aud, role, email, email_confirmed_at, raw_app_meta_data,
      raw_user_meta_data, is_anonymous, confirmation_token, recovery_token, email_change, created_at, updated_at)
    values ('00000000-0000-0000-0000-000000000000', $1::uuid, 'authenticated', 'authenticated', $2, now(), '{}', '{}',
      false, '', '', $3, now(), now())
  ), factor as (
    insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
    values ($4, $1, 'totp', 'verified', $5, now(), now())
  ), given as (
    select * from json_to_recordset($6) as s(id uuid, old text, parent text, first text)
  ), begun as (
    insert into auth.sessions (id, user_id, created_at, updated_at, aal)
    select id, $1, now() - interval '1 hour', now(), 'aal1' from given
  ), method as (
    insert into auth.mfa_amr_claims (id, session_id, created_at, updated_at, authentication_method)
    select gen_random_uuid(), id, now() - interval '1 hour', now() - interval '1 hour', 'password' from given
  )
  insert into auth.refresh_tokens (token, user_id, session_id, parent, revoked, created_at, updated_at)
  select t.token, $1::text, g.id, t.parent, t.revoked, now() - interval '10 minutes', now() - interval '5 minutes'
  from given g, lateral (values (g.old, null, true), (g.parent, g.old, true), (g.first, g.parent, false))
    as t(token, parent, revoked)`

export async function createPerson(db: TestDatabase, tools: AuthTools, options: PersonOptions): Promise<Person> {
  const id = randomUUID()
  const [email, newEmail] = [`${id}@example.com`, `new-${id}@example.com`]
  const factor = { id: randomUUID(), secret: newTotpSecret() }
  const sessions = await Promise.all(Array.from({ length: options.sessions }, () => newSession(id)))
  await db.query(insertPerson, [id, email, newEmail, factor.id, factor.secret, JSON.stringify(sessions)])
  const put = async (slot: MailedSlot): Promise<MailedToken> => {
    const issued = tools.oneTime.issue(slot, slot === 'email_change_new' ? newEmail : email, 'implicit')
    await putOneTimeToken(tools.database.run, { userId: id, ...issued })
    return { ...issued, tries: options.tries }
  }
  const mailed = {
    recovery: await put('recovery'),
    email_change_current: await put('email_change_current'),
    email_change_new: await put('email_change_new'),
  }
  await db.query('update catalograph_auth.codes set tries = $2 where user_id = $1', [id, options.tries])
  return { id, email, newEmail, sessions, factor, mailed }
}

async function newSession(userId: string): Promise<SessionAtStart> {
  const id = randomUUID()
  const claims = { sub: userId, session_id: id, role: 'authenticated', aal: 'aal1', exp: now() + 3600 }
  const [old, parent, first] = [newRefreshToken(), newRefreshToken(), newRefreshToken()]
  return { id, old, parent, first, access: await signToken(claims, secret) }
}

const now = (): number => Math.floor(Date.now() / 1000)
