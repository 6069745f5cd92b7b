import type { LiveFigures } from '../../admin/call.ts'
import { useAdminAnswer } from '../context.tsx'
import { Answer, RefreshButton } from '../parts/controls.tsx'
import { WideTable } from '../parts/wide-table.tsx'

/** Live queries: streams, runs and their results, and the watched tables. */
export function LivePanel() {
  const [asked, reload] = useAdminAnswer<LiveFigures>('admin/v1/live')
  return (
    <>
      <div className="toolbar">
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{(live) => <Live {...live} />}</Answer>
    </>
  )
}

function Live({ faults, runs, refused, tables, streams, sockets, watches, waiting, lag }: LiveFigures) {
  const refusals = refused.filter(({ count }) => count > 0)
  return (
    <>
      {faults.map((fault) => (
        <p key={fault} role="alert" className="notice">
          No change is reported: {fault}.
        </p>
      ))}
      <dl className="facts" aria-label="Live queries now">
        <div>
          <dt>Streams</dt>
          <dd>
            {streams}, which ask {watches} different queries
          </dd>
        </div>
        <div>
          <dt>WebSockets</dt>
          <dd>{sockets}</dd>
        </div>
        <div>
          <dt>Waiting for a run</dt>
          <dd>{waiting}</dd>
        </div>
        <div>
          <dt>From a change to its answer</dt>
          <dd>{lag === null ? 'no answer yet' : lagText(lag)}</dd>
        </div>
      </dl>
      {refusals.length > 0 && (
        <p>Refused streams: {refusals.map(({ limit, count }) => `${count} ${limits[limit] ?? limit}`).join(', ')}.</p>
      )}
      <h2>Runs</h2>
      <p>
        A stream is answered by a run of its query, which streams that ask the same share. Counted since each worker
        started.
      </p>
      <RunTable runs={runs} />
      <h2>Watched tables</h2>
      <TableTable tables={tables} />
    </>
  )
}

/** The exceeded limits, by the names of the service. */
const limits: Readonly<Record<string, string>> = {
  party: 'because of their caller\u2019s other streams',
  all: 'because of all other streams',
  memory: 'for lack of memory',
}

const lagText = ({ answers, p50_ms: median, p99_ms: most, max_ms: longest }: NonNullable<LiveFigures['lag']>): string =>
  `median ${median} ms, 99 % within ${most} ms, at most ${longest} ms, of the last ${answers}`

const reasons: Readonly<Record<string, string>> = {
  joined: 'a stream was opened',
  change: 'a reported change',
  schema: 'the schema, a grant or a role changed',
  outage: 'changes may have been missed',
  retry: 'the run before failed',
  reader: 'a slow client reads again',
}

function RunTable({ runs }: Pick<LiveFigures, 'runs'>) {
  const count = (reason: string, result: string): number =>
    runs.find((run) => run.reason === reason && run.result === result)?.count ?? 0
  const made = Object.entries(reasons).filter(([reason]) => runs.some((run) => run.reason === reason))
  return (
    <WideTable
      label="Runs"
      columns={['Because', 'Another answer', 'The same answer', 'Failed']}
      empty="No runs."
      rows={made.map(([reason, title]) => (
        <tr key={reason}>
          <th scope="row">{title}</th>
          {['changed', 'same', 'failed'].map((result) => (
            <td key={result}>{count(reason, result)}</td>
          ))}
        </tr>
      ))}
    />
  )
}

function TableTable({ tables }: Pick<LiveFigures, 'tables'>) {
  return (
    <WideTable
      label="Watched tables"
      columns={['Table', 'Queries that watch it', 'Reported changes', 'Without effect']}
      empty="No table is watched."
      rows={tables.map(({ schema, name, watches, changes, unheard }) => (
        <tr key={`${schema}.${name}`}>
          <th scope="row">
            {schema}.{name}
          </th>
          <td>{watches}</td>
          <td>{changes}</td>
          <td>{unheard}</td>
        </tr>
      ))}
    />
  )
}
