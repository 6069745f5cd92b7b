import { useCallback, useState } from 'react'
import type { Api, Result } from '../api.ts'
import { useAdminAnswer } from '../context.tsx'
import { Answer } from './answer.tsx'
import { Pages, totalOf } from './pages.tsx'
import { timeOf } from './time.ts'

/** An entry of auth's audit log (spec/auth.md 12). */
interface AuditEntry {
  readonly id: string
  readonly created_at?: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, string>>
  }
}

export interface AuditLogProps {
  /** Of the admin endpoint that lists them. */
  readonly path: string
  readonly query?: string
  /** What the table is called. */
  readonly label: string
}

const perPage = 25

/** Who did what and when, page by page. */
export function AuditLog({ path, query = '', label }: AuditLogProps) {
  const [page, setPage] = useState(1)
  const ask = useCallback(
    (api: Api): Promise<Result<readonly AuditEntry[]>> =>
      api.call('GET', `${path}?${new URLSearchParams({ page: String(page), per_page: String(perPage), query })}`),
    [path, page, query],
  )
  const [asked, reload] = useAdminAnswer(ask)
  return (
    <>
      <div className="toolbar">
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <Answer asked={asked}>{(entries) => <AuditTable entries={entries} label={label} />}</Answer>
      <Pages
        label={`Pages of ${label}`}
        noun="entry"
        nouns="entries"
        total={totalOf(asked)}
        page={page}
        perPage={perPage}
        turn={setPage}
      />
    </>
  )
}

function AuditTable({ entries, label }: { readonly entries: readonly AuditEntry[]; readonly label: string }) {
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Action</th>
            <th scope="col">By</th>
            <th scope="col">From address</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(({ id, created_at: time, ip_address: address, payload }) => (
            <tr key={id}>
              <td>{timeOf(time)}</td>
              <td>{payload.action}</td>
              <td>{payload.actor_username}</td>
              <td>{address}</td>
              <td>
                {Object.entries(payload.traits ?? {}).map(([name, value]) => (
                  <small key={name}>
                    {name}: {value}
                  </small>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {entries.length === 0 && <p>No entries.</p>}
    </div>
  )
}
