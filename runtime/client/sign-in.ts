import type { MaybeSignedIn, OauthSignIn } from './auth-client.ts'
import { expected, sessionOf, userOf } from './decode.ts'
import { isPassing, toAuthError } from './errors.ts'
import { queryText, type AddressParameters } from './http.ts'
import { isFields, type Fields } from './json.ts'
import { signedIn, startSession, type ClientContext, type Work } from './context.ts'
import { verifierMissing } from './pkce.ts'
import type { AuthChangeEvent, Session } from './types.ts'

/** Sign-in operations (spec/auth.md 14.1). */

const nobody: MaybeSignedIn = { user: null, session: null }

export const signUp: Work<'signUp'> = async (context, { email, password, options = {} }) => {
  const body = { email, password, data: options.data, ...(await context.pkce.challenge()) }
  const answer = await post(context, '/signup', body, options.emailRedirectTo)
  const session = await enterIfSession(context, answer, 'SIGNED_IN')
  return session === null ? { user: expected(userOf(answer)), session } : signedIn(session)
}

export const signInWithPassword: Work<'signInWithPassword'> = async (context, { email, password }) => {
  const query = { grant_type: 'password' }
  const answer = await context.ask({ method: 'POST', path: '/token', query, body: { email, password } })
  return signedIn(expected(await enterIfSession(context, answer, 'SIGNED_IN')))
}

export const signInAnonymously: Work<'signInAnonymously'> = async (context, { options = {} } = {}) => {
  const answer = await post(context, '/signup', { data: options.data ?? {} })
  return signedIn(expected(await enterIfSession(context, answer, 'SIGNED_IN')))
}

export const signInWithOAuth: Work<'signInWithOAuth'> = async (context, { provider, options = {} }) => {
  const query = await authorizeQuery(context, { provider, options })
  const url = `${context.url}/auth/v1/authorize${queryText(query)}`
  if (options.skipBrowserRedirect !== true) context.environment.location?.assign(url)
  return { provider, url }
}

export const authorizeQuery = async (
  { pkce }: ClientContext,
  { provider, options = {} }: OauthSignIn,
): Promise<AddressParameters> => ({
  ...options.queryParams,
  provider,
  scopes: options.scopes,
  redirect_to: options.redirectTo,
  ...(await pkce.challenge()),
})

export const signInWithIdToken: Work<'signInWithIdToken'> = async (context, { token, ...proof }) => {
  const query = { grant_type: 'id_token' }
  const answer = await context.ask({ method: 'POST', path: '/token', query, body: { ...proof, id_token: token } })
  return signedIn(expected(await enterIfSession(context, answer, 'SIGNED_IN')))
}

export const signInWithOtp: Work<'signInWithOtp'> = async (context, { email, options = {} }) => {
  const { data, shouldCreateUser = true } = options
  const body = { email, data, create_user: shouldCreateUser, ...(await context.pkce.challenge()) }
  await post(context, '/otp', body, options.emailRedirectTo)
  return nobody
}

export const verifyOtp: Work<'verifyOtp'> = async (context, proof) => {
  const { options, ...body } = { options: undefined, ...proof }
  const answer = await post(context, '/verify', body, options?.redirectTo)
  const event = proof.type === 'recovery' ? 'PASSWORD_RECOVERY' : 'SIGNED_IN'
  const session = await enterIfSession(context, answer, event)
  return session === null ? nobody : signedIn(session)
}

export const resend: Work<'resend'> = async (context, { type, email, options = {} }) => {
  await post(context, '/resend', { type, email, ...(await context.pkce.challenge()) }, options.emailRedirectTo)
  return nobody
}

export const resetPasswordForEmail: Work<'resetPasswordForEmail'> = async (context, email, { redirectTo } = {}) => {
  await post(context, '/recover', { email, ...(await context.pkce.challenge('recovery')) }, redirectTo)
  return {}
}

export const exchangeCodeForSession: Work<'exchangeCodeForSession'> = async (context, code) => {
  const { session, event } = await exchangeCode(context, code)
  await startSession(context, session, event)
  return signedIn(session)
}

/** The session of a code. The verifier is kept while the code may still be exchanged. */
export async function exchangeCode(
  { ask, pkce, environment }: ClientContext,
  code: string,
): Promise<{ readonly session: Session; readonly event: AuthChangeEvent }> {
  const verifier = await pkce.read()
  if (verifier === null) throw verifierMissing()
  const body = { auth_code: code, code_verifier: verifier.text }
  try {
    const answer = await ask({ method: 'POST', path: '/token', query: { grant_type: 'pkce' }, body })
    const session = expected(sessionOf(answer, environment.now()))
    await pkce.forget()
    return { session, event: verifier.recovery ? 'PASSWORD_RECOVERY' : 'SIGNED_IN' }
  } catch (error) {
    if (!isPassing(toAuthError(error))) await pkce.forget()
    throw error
  }
}

const post = (context: ClientContext, path: string, body: Fields, redirectTo?: string): Promise<unknown> =>
  context.ask({ method: 'POST', path, query: { redirect_to: redirectTo }, body })

/** Stores the session of an answer; null for an answer without one, and bad_answer for an incomplete one. */
async function enterIfSession(
  context: ClientContext,
  answer: unknown,
  event: AuthChangeEvent,
): Promise<Session | null> {
  if (!isFields(answer) || !('access_token' in answer)) return null
  const session = expected(sessionOf(answer, context.environment.now()))
  await startSession(context, session, event)
  return session
}
