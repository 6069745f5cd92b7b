import { useDeferredValue, useEffect, useRef, useState } from 'react'
import type { AccessAnswer, PoliciesAnswer } from '../../admin/call.ts'
import type { ShownPolicy, ShownTable } from '../../admin/access.ts'
import { useAdminAnswer, usePageContext } from '../context.tsx'
import { Answer, ChoiceField, RefreshButton, TextField } from '../parts/controls.tsx'
import { WideTable } from '../parts/wide-table.tsx'
import { WhomPicker } from '../parts/whom-picker.tsx'
import { accessPath, commandNames, sentenceOfAccess, tableKey, type Tried } from '../policies.ts'
import { nameOfWhom } from '../whom.ts'

const states = {
  all: { title: 'all tables', shows: () => true },
  off: { title: 'row-level security off', shows: ({ enabled }: ShownTable) => !enabled },
  closed: {
    title: 'on, without a policy',
    shows: ({ enabled, policies }: ShownTable) => enabled && policies.length === 0,
  },
} as const

type State = keyof typeof states

export function PoliciesPanel() {
  const [text, setText] = useState('')
  const [state, setState] = useState<State>('all')
  const looked = useDeferredValue(text).trim().toLowerCase()
  const [asked, reload] = useAdminAnswer<PoliciesAnswer>('admin/v1/policies')
  const isShown = (table: ShownTable): boolean =>
    states[state].shows(table) && tableKey(table).toLowerCase().includes(looked)
  return (
    <>
      <div className="toolbar">
        <TextField type="search" label="Filter by name" text={text} change={setText} />
        <ChoiceField label="Show" options={states} chosen={state} choose={setState} />
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{({ tables }) => <Tables all={tables.length} tables={tables.filter(isShown)} />}</Answer>
    </>
  )
}

function Tables({ all, tables }: { readonly all: number; readonly tables: readonly ShownTable[] }) {
  const { whom } = usePageContext()
  const { tried, isTrying, start, stop } = useTrial()
  const done = tables.filter((table) => tried.has(tableKey(table))).length
  return (
    <>
      <div className="toolbar">
        <WhomPicker />
        <button
          type="button"
          className="primary"
          disabled={isTrying || tables.length === 0}
          onClick={() => start(tables)}
        >
          Try
        </button>
        {isTrying && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
        <p role="status">
          {tables.length} of {all} tables{tried.size > 0 && `, ${done} tried as ${nameOfWhom(whom)}`}
        </p>
      </div>
      <WideTable
        label="Policies"
        columns={['Table', 'Row-level security', ...commandNames.map((command) => command.toUpperCase()), 'Policies']}
        empty="No tables."
        rows={tables.map((table) => (
          <TableRow key={tableKey(table)} table={table} tried={tried.get(tableKey(table))} />
        ))}
      />
    </>
  )
}

interface Trial {
  readonly tried: ReadonlyMap<string, Tried>
  readonly isTrying: boolean
  readonly start: (tables: readonly ShownTable[]) => void
  readonly stop: () => void
}

const nothingTried: ReadonlyMap<string, Tried> = new Map()

/** Asks table by table; results are dropped when another role or user is chosen. */
function useTrial(): Trial {
  const { api, whom } = usePageContext()
  const [tried, setTried] = useState(nothingTried)
  const [isTrying, setTrying] = useState(false)
  const current = useRef(0)
  const stop = (): void => {
    current.current += 1
    setTrying(false)
  }
  useEffect(() => {
    setTried(nothingTried)
    return stop
  }, [whom])
  const start = (tables: readonly ShownTable[]): void => {
    const own = (current.current += 1)
    setTrying(true)
    setTried(nothingTried)
    void (async () => {
      for (const table of tables) {
        const asked = await api.call<AccessAnswer>('GET', accessPath(table, whom))
        if (own !== current.current) return
        setTried((before) => new Map(before).set(tableKey(table), asked))
      }
      setTrying(false)
    })()
  }
  return { tried, isTrying, start, stop }
}

function TableRow({ table, tried }: { readonly table: ShownTable; readonly tried: Tried | undefined }) {
  const { enabled, forced, policies } = table
  return (
    <tr>
      <th scope="row">{tableKey(table)}</th>
      <td>{enabled ? (forced ? 'on, for its owner too' : 'on') : 'off'}</td>
      {commandNames.map((command) => (
        <td key={command} className="reach">
          {tried === undefined ? '' : sentenceOfAccess(tried, command)}
        </td>
      ))}
      <td className="policies">
        {policies.map((policy) => (
          <Policy key={policy.name} policy={policy} />
        ))}
      </td>
    </tr>
  )
}

function Policy({ policy: { name, command, permissive, roles, using, check } }: { readonly policy: ShownPolicy }) {
  return (
    <div>
      <strong>{name}</strong>: {permissive ? '' : 'restrictive, '}
      {command === 'all' ? 'all commands' : command}, to {roles.join(', ')}
      {using !== null && (
        <small>
          using <code>{using}</code>
        </small>
      )}
      {check !== null && (
        <small>
          with check <code>{check}</code>
        </small>
      )}
    </div>
  )
}
