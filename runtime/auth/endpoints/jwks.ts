import { publicJwks } from '../../identity/key-set.ts'
import { json, type Call, type Outcome } from '../call/call.ts'

/** GET /.well-known/jwks.json (spec/auth.md 4.1): public keys; a shared secret is none. */
export async function jwks({ settings }: Call): Promise<Outcome> {
  return json({ keys: publicJwks(settings.jwt_keys) }, { 'cache-control': 'public, max-age=600' })
}
