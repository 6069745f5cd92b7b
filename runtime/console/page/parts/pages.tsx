import type { AdminAnswer } from '../context.tsx'

/** Entries on a page. */
export const perPage = 25

/** How many entries there are on all pages: the admin endpoints of auth tell it in a header. */
export const totalOf = (asked: AdminAnswer<unknown>): number =>
  asked.kind === 'answer' ? Number(asked.headers.get('x-total-count') ?? 0) : 0

export interface PagesProps {
  readonly label: string
  /** What one of them is called. */
  readonly noun: string
  /** What several of them are called. */
  readonly nouns: string
  readonly total: number
  readonly page: number
  readonly turn: (page: number) => void
}

/** Leads through pages, the newest first. */
export function Pages({ label, noun, nouns, total, page, turn }: PagesProps) {
  const pages = Math.max(1, Math.ceil(total / perPage))
  return (
    <nav className="toolbar" aria-label={label}>
      <button type="button" disabled={page <= 1} onClick={() => turn(page - 1)}>
        Newer
      </button>
      <span role="status">
        {total} {total === 1 ? noun : nouns}, page {page} of {pages}
      </span>
      <button type="button" disabled={page >= pages} onClick={() => turn(page + 1)}>
        Older
      </button>
    </nav>
  )
}
