import type { Call, Outcome } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'
import { idTokenGrant } from './token-id-token.ts'
import { passwordGrant } from './token-password.ts'
import { pkceGrant } from './token-pkce.ts'
import { refreshGrant } from './token-refresh.ts'

type Grant = (call: Call<typeof io.token>, tools: AuthTools) => Promise<Outcome>

/** What a session can be had for (spec/auth.md 4.4 to 4.7). */
const grants = new Map<string, Grant>([
  ['password', passwordGrant],
  ['refresh_token', refreshGrant],
  ['pkce', pkceGrant],
  ['id_token', idTokenGrant],
])

/** POST /token?grant_type= */
export async function token(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const name = call.query.grant_type ?? ''
  const grant = grants.get(name)
  if (grant !== undefined) return grant(call, tools)
  throw name === 'web3' ? refuse('web3_provider_disabled') : refuse('invalid_credentials', 'unsupported_grant_type')
}
