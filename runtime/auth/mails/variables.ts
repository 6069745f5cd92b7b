import type { IssuedToken } from '../secrets/one-time-tokens.ts'
import type { AuthSettings } from '../settings/setting-keys.ts'
import type { MailVariables } from './mailer.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Types of links (spec/auth.md 9.1). */
export type LinkType = 'signup' | 'recovery' | 'magiclink' | 'invite' | 'email_change'

export interface MailFacts {
  readonly issued: IssuedToken
  readonly linkType: LinkType
  readonly destination: string
  readonly email: string
  /** The new address of the account; empty if unchanged. */
  readonly newEmail: string
  readonly data: JsonObject
}

/** The variables of a template, made of settings only: never of the request's host (spec/auth.md, attack 6). */
export function mailVariables(settings: AuthSettings, facts: MailFacts): MailVariables {
  const { issued, linkType, destination } = facts
  const query = `token=${issued.token}&type=${linkType}&redirect_to=${encodeURIComponent(destination)}`
  return {
    ConfirmationURL: `${settings.external_url}/verify?${query}`,
    Token: issued.code,
    TokenHash: issued.token,
    SiteURL: settings.site_url,
    Email: facts.email,
    NewEmail: facts.newEmail,
    RedirectTo: destination,
    SendingTo: issued.address,
    Data: facts.data,
  }
}
