import type { Call } from './call.ts'
import { refuse } from '../protocol/errors.ts'
import { judgeRedirect } from '../rules/redirect.ts'

/**
 * The destination of a redirect: that of header or query, else the page of the call if it is allowed, else the site
 * (spec/auth.md 8). Throws 400 `validation_failed` for a destination that is on neither list.
 */
export function destinationOf({ askedRedirect: { asked, referer }, settings }: Call): string {
  if (asked === '') {
    const page = judgeRedirect(referer, settings)
    return page.kind === 'allowed' ? page.url : settings.site_url
  }
  const verdict = judgeRedirect(asked, settings)
  if (verdict.kind === 'allowed') return verdict.url
  throw refuse('validation_failed', 'redirect_to is not the Site URL or on the allowed list')
}
