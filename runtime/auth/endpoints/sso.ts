import { refuse } from '../protocol/errors.ts'

/** POST /sso: there is no SAML; clients know it by this text (spec/auth.md 11). */
export async function sso(): Promise<never> {
  throw refuse('saml_provider_disabled')
}
