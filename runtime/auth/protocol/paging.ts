import { refuse } from './errors.ts'

/** Pages of the admin endpoints (spec/auth.md 11). */
export interface PageRequest {
  readonly page: number
  readonly perPage: number
}

/** Its form in a query. */
export interface GivenPage {
  readonly page: string | undefined
  readonly per_page: string | undefined
}

const usualPerPage = 50
const most = 1_000_000

/**
 * An absent or empty number means its default, as auth-js sends it; page 0 is the first one, as in GoTrue. Throws 400
 * `validation_failed`.
 */
export function readPage({ page = '', per_page: perPage = '' }: GivenPage): PageRequest {
  return {
    page: page === '0' ? 1 : numberOf('page', page, 1),
    perPage: numberOf('per_page', perPage, usualPerPage),
  }
}

function numberOf(name: string, text: string, usual: number): number {
  if (text === '') return usual
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw refuse('validation_failed', `Bad Pagination Parameters: ${name} must be a whole number from 1 to ${most}`)
}

/**
 * X-Total-Count and Link (RFC 8288). auth-js reads one character after the first `=` of each link, so `page` comes
 * first. `rest`: further parameters for the next page.
 */
export function pageHeaders(
  path: string,
  { page, perPage }: PageRequest,
  total: number,
  rest: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const last = Math.max(1, Math.ceil(total / perPage))
  const kept = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString()
  const link = (to: number, rel: string): string =>
    `<${path}?page=${to}&per_page=${perPage}${kept === '' ? '' : `&${kept}`}>; rel="${rel}"`
  const links = [...(page < last ? [link(page + 1, 'next')] : []), link(last, 'last')]
  return { 'x-total-count': String(total), link: links.join(', ') }
}
