import { AuthFailure } from '../../runtime/auth/protocol/errors.ts'
import { isUuid } from '../../runtime/auth/protocol/input.ts'
import { createWhereReady } from '../../runtime/auth/schema/migrate.ts'
import { createAccessTokens } from '../../runtime/auth/secrets/access-tokens.ts'
import { createAuthState } from '../../runtime/auth/settings/store.ts'
import { audit } from '../../runtime/auth/store/audit-log.ts'
import { findUserByEmail, instanceId } from '../../runtime/auth/store/users.ts'
import { issueToken } from '../../runtime/console/admin/issue-token.ts'
import type { RunStatement } from '../../runtime/db/pool/statements.ts'
import { ownerRole } from '../../runtime/identity/project-keys.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { authUrls, withAuthDatabase } from './auth-database.ts'
import { CommandFailure, type Command, exitCodes, misuse } from './command.ts'
import { secretOf } from './keys/subcommands.ts'
import { neededSettingsOf } from './needed-settings.ts'

const usualMinutes = '60'

export const tokenCommand: Command = {
  name: 'token',
  summary: 'Print an access token of a user, to send requests as that user.',
  description:
    'The token has the claims that a sign-in gives it, belongs to no session, and cannot be refreshed. The audit log has each.\n' +
    'The database is that of DATABASE_AUTH_URL, DATABASE_OWNER_URL or DATABASE_URL, or the embedded one while it runs.',
  options: {
    user: { value: 'USER', help: 'The id or the mail address of the user.' },
    minutes: { value: 'N', help: `How long it is valid (default: ${usualMinutes}).` },
  },
  run: async ({ user, minutes = usualMinutes }, terminal) => {
    if (typeof user !== 'string') throw misuse('token takes --user with an id or a mail address')
    if (!/^[1-9]\d{0,3}$/.test(String(minutes))) throw misuse('--minutes takes a number from 1 to 9999')
    const settings = neededSettingsOf(terminal)
    const { secret } = await secretOf(settings)
    const { auth } = await authUrls(settings)
    const wanted = { settings, secret, user: user.trim().toLowerCase(), seconds: Number(minutes) * 60 }
    terminal.print(await withAuthDatabase(auth, ({ run }) => issueFor(run, wanted)))
    return exitCodes.done
  },
}

interface WantedToken {
  readonly settings: Settings
  readonly secret: string
  readonly user: string
  readonly seconds: number
}

async function issueFor(run: RunStatement, { settings, secret, user, seconds }: WantedToken): Promise<string> {
  const externalUrl = (): string => settings.baseUrl ?? `http://127.0.0.1:${settings.port}`
  const state = createAuthState({ run, whereReady: createWhereReady(run), externalUrl, now: Date.now })
  const id = isUuid(user) ? user : ((await findUserByEmail(run, user))?.id ?? '')
  if (id === '') throw new CommandFailure(`there is no user ${user}`)
  const entry = { action: 'token_issued', actor: { id: instanceId, email: ownerRole }, address: null } as const
  const note = (): Promise<void> => audit(run, { ...entry, traits: { user_id: id } })
  try {
    const tools = { database: { run }, tokens: createAccessTokens(secret, Date.now) }
    return (await issueToken({ tools, state }, id, note, seconds)).access_token
  } catch (error) {
    throw error instanceof AuthFailure ? new CommandFailure(error.message) : error
  }
}
