import type { ReactNode } from 'react'
import type { LiveFigures, OverviewAnswer, RequestsAnswer, ShownRequest } from '../../admin/call.ts'
import type { SchemaReport } from '../../../graphql/report/report.ts'
import { reportPath } from '../api.ts'
import { useAdminAnswer } from '../context.tsx'
import { Answer } from '../parts/controls.tsx'
import { Copied } from '../parts/snippet.tsx'
import { timeOf } from '../parts/time.ts'

/** The number of rows that a card shows; the panel that it leads to shows all. */
const shown = 3

/** The state of the project at a glance; each card leads to its panel. */
export function HomePanel() {
  const [overview] = useAdminAnswer<OverviewAnswer>('admin/v1/overview')
  const [report] = useAdminAnswer<SchemaReport>(reportPath('anon'))
  const [requests] = useAdminAnswer<RequestsAnswer>('admin/v1/requests')
  const [live] = useAdminAnswer<LiveFigures>('admin/v1/live')
  return (
    <>
      <Answer asked={overview}>{(found) => <Overview {...found} />}</Answer>
      <div className="cards">
        <Card title="Problems" panel="report">
          <Answer asked={report}>{({ advice }) => <Problems advice={advice} />}</Answer>
        </Card>
        <Card title="Failed requests" panel="requests">
          <Answer asked={requests}>{(found) => <Failures {...found} />}</Answer>
        </Card>
        <Card title="Slowest requests" panel="requests">
          <Answer asked={requests}>{(found) => <Slowest {...found} />}</Answer>
        </Card>
        <Card title="Live queries" panel="live">
          <Answer asked={live}>{(found) => <LiveNow {...found} />}</Answer>
        </Card>
      </div>
    </>
  )
}

interface CardProps {
  readonly title: string
  readonly panel: string
  readonly children: ReactNode
}

function Card({ title, panel, children }: CardProps) {
  return (
    <section className="card" aria-label={title}>
      <h2>
        <a href={`#${panel}`}>{title}</a>
      </h2>
      {children}
    </section>
  )
}

const states: Readonly<Record<OverviewAnswer['status'], string>> = {
  ok: 'serving',
  starting: 'waits for its first schema',
  stopping: 'stops soon',
  down: 'the database does not answer',
}

function Overview({ status, fault, version, commit, node, postgres, relations, roles, users }: OverviewAnswer) {
  return (
    <>
      {fault !== null && (
        <p role="alert" className="notice bad">
          {fault}
        </p>
      )}
      <dl className="facts" aria-label="Project">
        <Fact title="State">{states[status]}</Fact>
        <Fact title="Catalograph">
          {version} <small>{commit}</small>
        </Fact>
        <Fact title="Postgres">{postgres}</Fact>
        <Fact title="Node">{node}</Fact>
        {roles.map(({ role, relations: seen }) => (
          <Fact key={role} title={`${role} sees`}>
            <a href="#report">
              {seen} of {relations} tables
            </a>
          </Fact>
        ))}
        <Fact title="Users">
          {users === null ? <a href="#auth">auth is not enabled</a> : <a href="#users">{usersText(users)}</a>}
        </Fact>
      </dl>
    </>
  )
}

const usersText = ({ all, guests, week }: NonNullable<OverviewAnswer['users']>): string =>
  [String(all), ...(week === 0 ? [] : [`${week} new this week`]), ...(guests === 0 ? [] : [`${guests} guests`])].join(
    ', ',
  )

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Problems({ advice }: Pick<SchemaReport, 'advice'>) {
  if (advice.length === 0) return <p>None found.</p>
  return (
    <>
      <p>{advice.length === 1 ? '1 problem' : `${advice.length} problems`}, the first of them:</p>
      {advice.slice(0, shown).map(({ problem, object, message, sql }) => (
        <div key={`${problem} ${object}`} className="finding">
          <h3>
            {object}: {problem}
          </h3>
          <p>{message}</p>
          <Copied title={`SQL for ${object}`} text={sql} />
        </div>
      ))}
    </>
  )
}

function Failures({ requests }: RequestsAnswer) {
  const failed = requests.filter(({ code }) => code !== null)
  return <RequestList requests={failed.slice(0, shown)} empty="None are kept." say={({ code }) => code ?? ''} />
}

function Slowest({ requests, slow_ms: slowMs }: RequestsAnswer) {
  const slow = requests.filter(({ code }) => code === null).toSorted((a, b) => b.ms - a.ms)
  const empty = slowMs === 0 ? 'None are kept while SLOW_REQUEST_MS is not set.' : `None took ${slowMs} ms or longer.`
  return <RequestList requests={slow.slice(0, shown)} empty={empty} say={({ ms }) => `${ms} ms`} />
}

interface RequestListProps {
  readonly requests: readonly ShownRequest[]
  readonly empty: string
  readonly say: (request: ShownRequest) => string
}

function RequestList({ requests, empty, say }: RequestListProps) {
  if (requests.length === 0) return <p>{empty}</p>
  return (
    <ul>
      {requests.map((request) => (
        <li key={request.request_id}>
          {request.operation} as {request.role}: {say(request)}
          <small>{timeOf(request.answered_at)}</small>
        </li>
      ))}
    </ul>
  )
}

function LiveNow({ streams, faults, lag }: LiveFigures) {
  return (
    <>
      {faults.map((fault) => (
        <p key={fault}>No change is reported: {fault}.</p>
      ))}
      <p>
        {streams === 1 ? '1 stream' : `${streams} streams`}
        {lag !== null && `; a change is answered after ${lag.p50_ms} ms in the median`}.
      </p>
    </>
  )
}
