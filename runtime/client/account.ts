import { claimsOf, expected, isWhole, userOf, type StoredSession } from './decode.ts'
import { isVerdict, toAuthError } from './errors.ts'
import { signedIn, startSession, type ClientContext, type Work } from './context.ts'
import { isFields } from './json.ts'
import { authorizeQuery } from './sign-in.ts'
import type { Session, SessionTokens, User } from './types.ts'

/** The operations of a signed-in user (spec/auth.md 14.1). */

export const getSession: Work<'getSession'> = async ({ present }) => {
  return { session: await present.load() }
}

export const getUser: Work<'getUser'> = async (context, accessToken) => {
  return { user: await fetchUser(context, accessToken ?? (await context.present.need()).access_token) }
}

export const setSession: Work<'setSession'> = async (context, tokens) => {
  const nowSeconds = context.environment.now() / 1000
  const expiresAt = Number(claimsOf(tokens.access_token)['exp'] ?? 0)
  if (!(expiresAt > nowSeconds)) return signedIn(await context.refresher.refreshGiven(tokens.refresh_token))
  const session = await sessionOfTokens(context, tokens, expiresAt)
  const raised = raises(await context.store.read(), session)
  await startSession(context, session, raised ? 'MFA_CHALLENGE_VERIFIED' : 'SIGNED_IN')
  return signedIn(session)
}

export const refreshSession: Work<'refreshSession'> = async (context, tokens) => {
  if (tokens !== undefined) return signedIn(await context.refresher.refreshGiven(tokens.refresh_token))
  const stored = (await context.store.read()) ?? (await context.present.need())
  return signedIn(await context.refresher.refreshStored(stored))
}

export const updateUser: Work<'updateUser'> = async (context, changes, { emailRedirectTo } = {}) => {
  const { access_token } = await context.present.need()
  const answer = await context.ask({
    method: 'PUT',
    path: '/user',
    query: { redirect_to: emailRedirectTo },
    body: { ...changes, ...(changes.email !== undefined && (await context.pkce.challenge())) },
    token: access_token,
  })
  const user = expected(userOf(answer))
  const session = await keepUser(context, user)
  if (session !== null) context.events.emit('USER_UPDATED', session)
  return { user }
}

export const reauthenticate: Work<'reauthenticate'> = async (context) => {
  const { access_token } = await context.present.need()
  await context.ask({ method: 'GET', path: '/reauthenticate', token: access_token })
  return {}
}

export const getUserIdentities: Work<'getUserIdentities'> = async (context) => {
  const { user } = await getUser(context)
  return { identities: user.identities ?? [] }
}

export const linkIdentity: Work<'linkIdentity'> = async (context, { provider, options = {} }) => {
  const { access_token } = await context.present.need()
  const query = { ...(await authorizeQuery(context, { provider, options })), skip_http_redirect: 'true' }
  const answer = await context.ask({ method: 'GET', path: '/user/identities/authorize', query, token: access_token })
  const url = expected(isFields(answer) && typeof answer['url'] === 'string' ? answer['url'] : null)
  if (options.skipBrowserRedirect !== true) context.environment.location?.assign(url)
  return { provider, url }
}

export const unlinkIdentity: Work<'unlinkIdentity'> = async (context, { identity_id }) => {
  const { access_token } = await context.present.need()
  const path = `/user/identities/${encodeURIComponent(identity_id)}`
  await context.ask({ method: 'DELETE', path, token: access_token })
  return {}
}

export const signOut: Work<'signOut'> = async (context, { scope = 'global' } = {}) => {
  const session = await sessionToEnd(context)
  if (session !== null) await logOut(context, session.access_token, scope)
  if (scope === 'others') return {}
  await context.pkce.forget()
  await context.store.remove()
  context.events.emit('SIGNED_OUT', null)
  return {}
}

/** Null if there is none, or if the service has just reported its end. */
async function sessionToEnd({ present }: ClientContext): Promise<Session | null> {
  try {
    return await present.load()
  } catch (error) {
    if (isVerdict(toAuthError(error))) return null
    throw error
  }
}

/** The service refuses a session that has ended; then nothing is left to end (spec/auth.md 5.5). */
const ended: ReadonlySet<number> = new Set([401, 403, 404])

async function logOut({ ask }: ClientContext, token: string, scope: string): Promise<void> {
  try {
    await ask({ method: 'POST', path: '/logout', query: { scope }, token })
  } catch (error) {
    if (!ended.has(toAuthError(error).status)) throw error
  }
}

async function fetchUser({ ask }: ClientContext, token: string): Promise<User> {
  return expected(userOf(await ask({ method: 'GET', path: '/user', token })))
}

/** A session of two tokens whose user the service has confirmed. */
export async function sessionOfTokens(
  context: ClientContext,
  tokens: SessionTokens,
  expiresAt: number,
): Promise<Session> {
  const user = await fetchUser(context, tokens.access_token)
  const expiresIn = Math.max(0, Math.round(expiresAt - context.environment.now() / 1000))
  const { access_token, refresh_token } = tokens
  return { access_token, refresh_token, token_type: 'bearer', expires_in: expiresIn, expires_at: expiresAt, user }
}

/** Whether it is the same session, raised to aal2: a second factor was verified (spec/auth.md 5.7). */
function raises(before: StoredSession | null, after: Session): boolean {
  if (before === null) return false
  const [old, present] = [claimsOf(before.access_token), claimsOf(after.access_token)]
  return old['session_id'] === present['session_id'] && old['aal'] !== 'aal2' && present['aal'] === 'aal2'
}

/** Stores a changed user in the present session; null if that belongs to another user. */
async function keepUser(context: ClientContext, user: User): Promise<Session | null> {
  const present = await context.store.read()
  if (!isWhole(present) || present.user.id !== user.id) return null
  const session = { ...present, user }
  return (await context.store.replace(present.refresh_token, session)) ? session : keepUser(context, user)
}
