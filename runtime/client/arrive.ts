import { sessionOfTokens } from './account.ts'
import { AuthError, isPassing, toAuthError } from './errors.ts'
import { landingOf, withoutLanding, type Landing } from './landing.ts'
import type { ClientContext } from './context.ts'
import { verifierMissing } from './pkce.ts'
import { exchangeCode } from './sign-in.ts'
import type { AuthChangeEvent, Session } from './types.ts'

export interface Arrival {
  readonly session: Session
  readonly event: AuthChangeEvent
}

/**
 * Stores the session in the page's address from a mail or a provider, and removes it from the address bar. Null for an
 * ordinary visit. A part that could not be exchanged stays in the address, so that a reload retries.
 */
export async function arrive(context: ClientContext): Promise<Arrival | null> {
  const { location } = context.environment
  const landing = location === null ? null : landingOf(location.href)
  if (landing === null || (landing.kind === 'code' && (await context.pkce.read()) === null)) return null
  try {
    const arrival = await arrivalOf(context, landing)
    await context.store.save(arrival.session)
    tidyAddress(context)
    return arrival
  } catch (error) {
    if (!isPassing(toAuthError(error))) tidyAddress(context)
    throw error
  }
}

async function arrivalOf(context: ClientContext, landing: Landing): Promise<Arrival> {
  if (landing.kind === 'refused') throw new AuthError(landing.code, landing.message, { status: 400 })
  if (landing.kind === 'code') return exchangeCode(context, landing.code)
  // With PKCE, a link that another person may have created does not sign in (spec/auth.md 6.4).
  if (context.flow === 'pkce') throw verifierMissing()
  return ofFragment(context, landing.parameters)
}

async function ofFragment(context: ClientContext, parameters: URLSearchParams): Promise<Arrival> {
  const get = (name: string): string => parameters.get(name) ?? ''
  const tokens = { access_token: get('access_token'), refresh_token: get('refresh_token') }
  const expiresIn = Number(get('expires_in'))
  if (tokens.refresh_token === '' || !(expiresIn > 0))
    throw new AuthError('bad_answer', 'The link holds half a session')
  const expiresAt = Number(get('expires_at')) || Math.floor(context.environment.now() / 1000) + expiresIn
  const session = { ...(await sessionOfTokens(context, tokens, expiresAt)), ...providerTokens(parameters) }
  return { session, event: get('type') === 'recovery' ? 'PASSWORD_RECOVERY' : 'SIGNED_IN' }
}

function providerTokens(parameters: URLSearchParams): Partial<Session> {
  const names = ['provider_token', 'provider_refresh_token'] as const
  return Object.fromEntries(names.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name)]] : [])))
}

function tidyAddress({ environment: { history, location } }: ClientContext): void {
  if (location !== null) history?.replaceState(history.state, '', withoutLanding(location.href))
}
