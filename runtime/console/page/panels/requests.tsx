import { useState } from 'react'
import type { DocumentAnswer, RequestsAnswer, ShownRequest } from '../../admin/call.ts'
import { useAdminAnswer, usePageContext, useRefusal } from '../context.tsx'
import { Answer, Refused, ChoiceField, RefreshButton } from '../parts/controls.tsx'
import { WideTable } from '../parts/wide-table.tsx'
import { timeOf } from '../parts/time.ts'
import type { Whom } from '../whom.ts'

/** The filter of the log. */
const kinds = {
  all: { title: 'slow and failed', shows: () => true },
  failed: { title: 'failed', shows: ({ code }: ShownRequest) => code !== null },
  slow: { title: 'slow', shows: ({ code }: ShownRequest) => code === null },
} as const

type Kind = keyof typeof kinds

export function RequestsPanel() {
  const [kind, setKind] = useState<Kind>('all')
  const [asked, reload] = useAdminAnswer<RequestsAnswer>('admin/v1/requests')
  return (
    <>
      <div className="toolbar">
        <ChoiceField label="Show" options={kinds} chosen={kind} choose={setKind} />
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>
        {({ requests, slow_ms: slowMs }) => (
          <>
            <p>{explanationOf(slowMs)}</p>
            <RequestTable requests={requests.filter(kinds[kind].shows)} />
          </>
        )}
      </Answer>
    </>
  )
}

const explanationOf = (slowMs: number): string =>
  `The last 100 failed requests of each worker, and the last 100 that took ${
    slowMs === 0 ? 'long: none while SLOW_REQUEST_MS is not set' : `${slowMs} ms or longer`
  }. Values and rows are not kept. Explain opens the document in GraphiQL as its role; for a user's request, choose the user there.`

function RequestTable({ requests }: { readonly requests: readonly ShownRequest[] }) {
  return (
    <WideTable
      label="Requests"
      columns={['Time', 'Operation', 'Role', 'Result', 'Duration', 'Stages', 'Document']}
      empty="No requests."
      rows={requests.map((request) => (
        <RequestRow key={request.request_id} request={request} />
      ))}
    />
  )
}

function RequestRow({ request }: { readonly request: ShownRequest }) {
  const { answered_at: time, operation, role, code, ms, phases, hash, request_id: id } = request
  return (
    <tr>
      <td>
        {timeOf(time)}
        <small>
          <code>{id}</code>
        </small>
      </td>
      <th scope="row">{operation}</th>
      <td>{role}</td>
      <td>{code === null ? 'slow' : <code>{code}</code>}</td>
      <td>{ms} ms</td>
      <td>
        {Object.entries(phases).map(([phase, time]) => (
          <small key={phase}>
            {phase} {time} ms
          </small>
        ))}
      </td>
      <td>
        {request.has_document && <ExplainButton request={request} />}
        <small title={hash}>
          <code>{hash.slice(0, 12)}</code>
        </small>
      </td>
    </tr>
  )
}

/** Opens the document in GraphiQL, which shows its plan once its values are filled in and it has run. */
function ExplainButton({ request: { hash, operation, role } }: { readonly request: ShownRequest }) {
  const { api, actAs, openDocument } = usePageContext()
  const [refusal, isDone] = useRefusal()
  const explain = async (): Promise<void> => {
    const asked = await api.call<DocumentAnswer>('GET', `admin/v1/documents/${hash}`)
    if (!isDone(asked)) return
    const whom = whomOf(role)
    if (whom !== null) actAs(whom)
    openDocument(asked.value.document)
    location.hash = 'graphiql'
  }
  return (
    <>
      <button type="button" aria-label={`Explain ${operation}`} onClick={() => void explain()}>
        Explain
      </button>
      <Refused refusal={refusal} />
    </>
  )
}

/** Null: a user's, whose id is not in the log; the chosen user stays. */
const whomOf = (role: string): Whom | null =>
  role === 'anon' ? { kind: 'anon' } : role === 'service_role' ? { kind: 'service' } : null
