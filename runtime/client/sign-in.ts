import type {
  MaybeSignedIn,
  OauthSignIn,
  OtpSignIn,
  Password,
  Resend,
  SignedIn,
  SignUp,
  VerifyOtp,
} from './auth-client.ts'
import { expected, sessionOf, userOf } from './decode.ts'
import { isPassing, toAuthError } from './errors.ts'
import { queryText } from './http.ts'
import { isFields, type Fields } from './json.ts'
import { enter, type Kit } from './kit.ts'
import { verifierMissing } from './pkce.ts'
import type { AuthChangeEvent, Metadata, Nothing, Session } from './types.ts'

/** The ways in (spec/auth.md 14.1). Each throws AuthError; auth.ts makes results of them. */

const nobody: MaybeSignedIn = { user: null, session: null }
const signedIn = (session: Session): SignedIn => ({ user: session.user, session })

export async function signUp(kit: Kit, { email, password, options = {} }: SignUp): Promise<MaybeSignedIn> {
  const body = { email, password, data: options.data, ...(await kit.pkce.challenge()) }
  const answer = await post(kit, '/signup', body, options.emailRedirectTo)
  const session = await enterIfSession(kit, answer, 'SIGNED_IN')
  return session === null ? { user: expected(userOf(answer)), session } : signedIn(session)
}

export async function signInWithPassword(kit: Kit, { email, password }: Password): Promise<SignedIn> {
  const query = { grant_type: 'password' }
  const answer = await kit.ask({ method: 'POST', path: '/token', query, body: { email, password } })
  return signedIn(expected(await enterIfSession(kit, answer, 'SIGNED_IN')))
}

export async function signInAnonymously(
  kit: Kit,
  { options = {} }: { readonly options?: { readonly data?: Metadata } } = {},
): Promise<SignedIn> {
  const answer = await post(kit, '/signup', { data: options.data ?? {} })
  return signedIn(expected(await enterIfSession(kit, answer, 'SIGNED_IN')))
}

export async function signInWithOAuth(
  kit: Kit,
  { provider, options = {} }: OauthSignIn,
): Promise<{ readonly provider: string; readonly url: string }> {
  const query = {
    ...options.queryParams,
    provider,
    scopes: options.scopes,
    redirect_to: options.redirectTo,
    ...(await kit.pkce.challenge()),
  }
  const url = `${kit.url}/auth/v1/authorize${queryText(query)}`
  if (options.skipBrowserRedirect !== true) kit.environment.location?.assign(url)
  return { provider, url }
}

export async function signInWithOtp(kit: Kit, { email, options = {} }: OtpSignIn): Promise<MaybeSignedIn> {
  const { data, shouldCreateUser = true } = options
  const body = { email, data, create_user: shouldCreateUser, ...(await kit.pkce.challenge()) }
  await post(kit, '/otp', body, options.emailRedirectTo)
  return nobody
}

export async function verifyOtp(kit: Kit, proof: VerifyOtp): Promise<MaybeSignedIn> {
  const { options, ...body } = { options: undefined, ...proof }
  const answer = await post(kit, '/verify', body, options?.redirectTo)
  const event = proof.type === 'recovery' ? 'PASSWORD_RECOVERY' : 'SIGNED_IN'
  const session = await enterIfSession(kit, answer, event)
  return session === null ? nobody : signedIn(session)
}

export async function resend(kit: Kit, { type, email, options = {} }: Resend): Promise<MaybeSignedIn> {
  await post(kit, '/resend', { type, email, ...(await kit.pkce.challenge()) }, options.emailRedirectTo)
  return nobody
}

export async function resetPasswordForEmail(
  kit: Kit,
  email: string,
  { redirectTo }: { readonly redirectTo?: string } = {},
): Promise<Nothing> {
  await post(kit, '/recover', { email, ...(await kit.pkce.challenge('recovery')) }, redirectTo)
  return {}
}

export async function exchangeCodeForSession(kit: Kit, code: string): Promise<SignedIn> {
  const { session, event } = await exchangeCode(kit, code)
  await enter(kit, session, event)
  return signedIn(session)
}

/** The session that a code stands for. The verifier is kept while the same code may still be exchanged with it. */
export async function exchangeCode(
  { ask, pkce, environment }: Kit,
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

const post = (kit: Kit, path: string, body: Fields, redirectTo?: string): Promise<unknown> =>
  kit.ask({ method: 'POST', path, query: { redirect_to: redirectTo }, body })

/** Enters the session of an answer; null for an answer that promises none, and bad_answer for half a one. */
async function enterIfSession(kit: Kit, answer: unknown, event: AuthChangeEvent): Promise<Session | null> {
  if (!isFields(answer) || !('access_token' in answer)) return null
  const session = expected(sessionOf(answer, kit.environment.now()))
  await enter(kit, session, event)
  return session
}
