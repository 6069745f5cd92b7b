import { refuse } from './errors.ts'

/** Pages of the admin endpoints (spec/auth.md 11). */
export interface Page {
  readonly page: number
  readonly perPage: number
}

const usualPerPage = 50
const most = 1_000_000

/**
 * An absent or empty number has its default, as auth-js sends it; page 0 is the first one, as in GoTrue. Throws 400
 * `validation_failed`.
 */
export function readPage(query: Readonly<Record<string, string>>): Page {
  return {
    page: query['page'] === '0' ? 1 : numberOf(query, 'page', 1),
    perPage: numberOf(query, 'per_page', usualPerPage),
  }
}

function numberOf(query: Readonly<Record<string, string>>, name: string, usual: number): number {
  const text = query[name] ?? ''
  if (text === '') return usual
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw refuse('validation_failed', `Bad Pagination Parameters: ${name} must be a whole number from 1 to ${most}`)
}

/**
 * X-Total-Count and Link (RFC 8288). auth-js reads the one character after the first `=` of each link, so `page` comes
 * first. `rest`: further parameters that the next page needs.
 */
export function pageHeaders(
  path: string,
  { page, perPage }: Page,
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
