import { isIP } from 'node:net'
import type { Origins } from '../../http/cors.ts'
import { limitSource } from '../../http/request-context.ts'
import type { VerifyToken } from '../../identity/jwt.ts'
import { ownerRole } from '../../identity/project-keys.ts'
import type { Client } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { judgeRedirect } from '../rules/redirect.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'

/** What stands between a client and its request. */
export interface Via {
  /** The header Sb-Forwarded-For of a server that calls for its users; empty: none. */
  readonly forwardedFor: string
  /** The origin of the page, which is of another site; empty: it named none; null: there is no such page. */
  readonly origin: string | null
}

/**
 * The sender of a call, as limits count it (spec/auth.md 10): the user whom a server with the service_role key names, and
 * apart from its address, what a page of a foreign site has a browser send.
 *
 * @throws AuthFailure 400 `validation_failed`: such a server names no address
 */
export async function senderOf(
  { verify, origins }: { readonly verify: VerifyToken; readonly origins: Origins },
  { client, apikey }: { readonly client: Client; readonly apikey: string },
  { forwardedFor, origin }: Via,
  settings: AuthSettings,
): Promise<Client> {
  if (forwardedFor !== '' && (await isServiceKey(apikey, verify))) return forwardedClient(client, forwardedFor)
  if (origin === null || isNamedOrigin(origin, origins, settings)) return client
  return { ...client, source: `cross-site ${client.source}` }
}

async function isServiceKey(apikey: string, verify: VerifyToken): Promise<boolean> {
  const verdict = await verify(apikey)
  return verdict.kind === 'verified' && verdict.caller.role === ownerRole
}

/** A proxy before the server may have made a list of it, which the client's address begins. */
function forwardedClient(client: Client, forwardedFor: string): Client {
  const address = (forwardedFor.split(',')[0] ?? '').trim()
  if (isIP(address) === 0) throw refuse('validation_failed', 'Sb-Forwarded-For must be an IP address')
  return { ...client, address, source: limitSource(address) }
}

/** An origin that the owner named: in CORS_ORIGINS, or as a place to which the service may redirect. */
function isNamedOrigin(origin: string, origins: Origins, settings: AuthSettings): boolean {
  const page = `${origin}/`
  const destination = judgeRedirect(page, settings)
  return origins?.includes(origin) === true || (destination.kind === 'allowed' && destination.url === page)
}
