import type { AdminAnswer } from '../context.tsx'

export const perPage = 25

/** The number of entries on all pages: the admin endpoints of auth send it in a header. */
export const totalOf = (asked: AdminAnswer<unknown>): number =>
  asked.kind === 'answer' ? Number(asked.headers.get('x-total-count') ?? 0) : 0

export interface PagesProps {
  readonly label: string
  readonly noun: string
  readonly nouns: string
  readonly total: number
  readonly page: number
  readonly turn: (page: number) => void
}

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
