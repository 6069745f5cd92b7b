import { useState } from 'react'
import { reportPath } from '../api.ts'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { Answer, ChoiceField, RefreshButton, TextField } from '../parts/controls.tsx'
import { Copied } from '../parts/snippet.tsx'
import { WideTable } from '../parts/wide-table.tsx'
import { WhomPicker } from '../parts/whom-picker.tsx'
import type { Advice } from '../../../graphql/report/report-limits.ts'
import type { SchemaReport } from '../../../graphql/report/report.ts'
import { filterAdvice, filterRows, reportRows, type Presence, type ReportRow } from '../report-rows.ts'
import { roleOf } from '../whom.ts'

/** Every table and function, whether it is in the API of a role and why not, and the advice for the owner. */
export function ReportPanel() {
  const { whom } = usePageContext()
  const [asked, reload] = useAdminAnswer<SchemaReport>(reportPath(roleOf(whom)))
  return (
    <>
      <div className="toolbar">
        <WhomPicker />
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{(report) => <Report {...report} />}</Answer>
    </>
  )
}

const presences: Readonly<Record<Presence, { readonly title: string }>> = {
  all: { title: 'everything' },
  missing: { title: 'what is not in the API' },
  present: { title: 'what is in the API' },
}

function Report(report: SchemaReport) {
  const [text, setText] = useState('')
  const [presence, setPresence] = useState<Presence>('all')
  const all = reportRows(report)
  const rows = filterRows(all, text, presence)
  return (
    <>
      <div className="toolbar">
        <TextField type="search" label="Filter" text={text} change={setText} />
        <ChoiceField label="Show" options={presences} chosen={presence} choose={setPresence} />
        <p role="status">
          {rows.length} of {all.length}, for {report.role}
        </p>
      </div>
      <ReportTable rows={rows} />
      <h2>Problems</h2>
      <AdviceList all={report.advice.length} advice={filterAdvice(report.advice, text)} />
    </>
  )
}

function ReportTable({ rows }: { readonly rows: readonly ReportRow[] }) {
  const isLiveKnown = rows.some(({ live }) => live !== null)
  return (
    <WideTable
      label="Objects of the schema"
      columns={[
        'Object',
        'Kind',
        'Name in the API',
        'Reason if not served',
        'Fix',
        ...(isLiveKnown ? ['Can be watched'] : []),
      ]}
      rows={rows.map((row) => (
        <tr key={row.key}>
          <th scope="row">{row.object}</th>
          <td>{row.kind}</td>
          <td>{row.name ?? '–'}</td>
          <td>
            {row.reason !== null && <strong>{row.reason}</strong>} {row.message}
          </td>
          <td>{row.fix !== null && <code>{row.fix}</code>}</td>
          {isLiveKnown && <td>{row.live ?? '–'}</td>}
        </tr>
      ))}
    />
  )
}

function AdviceList({ all, advice }: { readonly all: number; readonly advice: readonly Advice[] }) {
  if (all === 0) return <p>No problems found.</p>
  return (
    <>
      <p role="status">
        {advice.length} of {all} problems
      </p>
      <ul className="advice">
        {advice.map(({ problem, object, message, sql }) => (
          <li key={`${problem} ${object}`} className="card">
            <h3>
              {object}: {problem}
            </h3>
            <p>{message}</p>
            <Copied title={`SQL for ${object}`} text={sql} />
          </li>
        ))}
      </ul>
    </>
  )
}
