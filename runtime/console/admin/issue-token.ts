import type { RunStatement } from '../../db/pool/statements.ts'
import { noSuchUser } from '../../auth/endpoints/admin/target-user.ts'
import { refuse } from '../../auth/protocol/errors.ts'
import { isUuid } from '../../auth/protocol/input.ts'
import type { AccessTokens } from '../../auth/secrets/access-tokens.ts'
import type { ReadAuthState } from '../../auth/settings/store.ts'
import { findUserById } from '../../auth/store/users.ts'
import type { TokenAnswer } from './call.ts'

/** Long enough to look at something, and short enough to be harmless in a forgotten tab. */
const usualSeconds = 600

interface TokenParts {
  readonly tools: { readonly database: { readonly run: RunStatement }; readonly tokens: AccessTokens }
  readonly state: ReadAuthState
}

/**
 * An access token of a user for the owner, to see the user's view. It belongs to no session, and the audit entry is
 * written before it is returned. Throws 400 `validation_failed`, 404 `user_not_found`, 503 `auth_not_enabled`.
 */
export async function issueToken(
  { tools, state }: TokenParts,
  userId: string,
  note: (run: RunStatement) => Promise<void>,
  lifeSeconds = usualSeconds,
): Promise<TokenAnswer> {
  const now = await state()
  if (now.kind === 'disabled') throw refuse('auth_not_enabled')
  if (!isUuid(userId)) throw refuse('validation_failed', 'user_id must be an UUID')
  const { run } = tools.database
  const user = await findUserById(run, userId.toLowerCase())
  if (user === null) throw noSuchUser()
  await note(run)
  const { token, expiresAt } = await tools.tokens.issue({ ...now.settings, jwt_exp: lifeSeconds }, user, null)
  return { access_token: token, token_type: 'bearer', expires_in: lifeSeconds, expires_at: expiresAt }
}
