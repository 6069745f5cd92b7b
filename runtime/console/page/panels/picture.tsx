import type { IntrospectionQuery } from 'graphql'
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { schemaPath } from '../api.ts'
import { useAdminAnswer } from '../context.tsx'
import { Answer, ChoiceField, RefreshButton, TextField, SwitchField } from '../parts/controls.tsx'
import { Field } from '../parts/field.tsx'
import { Drawing } from '../picture/drawing.tsx'
import { filterGraph, readGraph, type Graph } from '../picture/graph.ts'
import { boxWidth, layOut, type Layout } from '../picture/layout.ts'

const roles = {
  anon: { title: 'anon' },
  authenticated: { title: 'authenticated' },
  service_role: { title: 'service_role' },
} as const

export function PicturePanel() {
  const [role, setRole] = useState<keyof typeof roles>('anon')
  const [asked, reload] = useAdminAnswer<IntrospectionQuery>(schemaPath(role))
  return (
    <>
      <div className="toolbar">
        <ChoiceField label="As role" options={roles} chosen={role} choose={setRole} />
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{(introspection) => <Picture introspection={introspection} />}</Answer>
    </>
  )
}

const zooms = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2]

function Picture({ introspection }: { readonly introspection: IntrospectionQuery }) {
  const whole = useMemo(() => readGraph(introspection), [introspection])
  const [text, setText] = useState('')
  const [withNear, setWithNear] = useState(true)
  const looked = useDeferredValue(text)
  const graph = useMemo(() => filterGraph(whole, looked, withNear), [whole, looked, withNear])
  const layout = useMemo(() => layOut(graph), [graph])
  const [zoom, setZoom] = useState(zooms.indexOf(1))
  const [wanted, setWanted] = useState<string | null>(null)
  const choose = useCallback((name: string) => setWanted((before) => (before === name ? null : name)), [])
  const chosen = graph.types.some(({ name }) => name === wanted) ? wanted : null
  const frame = useCentred(layout, zooms[zoom] ?? 1, chosen)
  if (whole.types.length === 0) return <p>This role sees no tables.</p>
  return (
    <>
      <div className="toolbar">
        <TextField type="search" label="Filter by name" text={text} change={setText} />
        <SwitchField label="With related types" on={withNear} change={setWithNear} />
        <Field label="Focus">
          {(described) => (
            <select {...described} value={chosen ?? ''} onChange={({ target }) => setWanted(target.value || null)}>
              <option value="">all types</option>
              {graph.types.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <button type="button" disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
          Smaller
        </button>
        <button type="button" disabled={zoom === zooms.length - 1} onClick={() => setZoom(zoom + 1)}>
          Larger
        </button>
        <span role="status">
          {graph.types.length} of {whole.types.length} types, {Math.round((zooms[zoom] ?? 1) * 100)} %
        </span>
      </div>
      <div ref={frame} className="wide picture-frame" tabIndex={0} role="region" aria-label="Diagram of the schema">
        <Drawing layout={layout} zoom={zooms[zoom] ?? 1} chosen={chosen} choose={choose} />
      </div>
      {graph.types.length === 0 && <p>No type has such a name.</p>}
      <Relations graph={graph} chosen={chosen} />
    </>
  )
}

function useCentred(layout: Layout, zoom: number, chosen: string | null): RefObject<HTMLDivElement | null> {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = layout.boxes.find(({ type }) => type.name === chosen)
    const seen = frame.current
    if (box === undefined || seen === null) return
    seen.scrollTo({
      left: (box.x + boxWidth / 2) * zoom - seen.clientWidth / 2,
      top: (box.y + box.height / 2) * zoom - seen.clientHeight / 2,
    })
  }, [layout, zoom, chosen])
  return frame
}

function Relations({ graph, chosen }: { readonly graph: Graph; readonly chosen: string | null }) {
  const shown = graph.relations.filter(({ from, to }) => chosen === null || from === chosen || to === chosen)
  return (
    <details>
      <summary>
        {graph.types.length} types, {shown.length} relations as a list
      </summary>
      <ul>
        {shown.map(({ from, field, to, many }) => (
          <li key={`${from}.${field}`}>
            <code>
              {from}.{field}
            </code>{' '}
            leads to {many ? 'any number of' : 'one'} <code>{to}</code>
          </li>
        ))}
      </ul>
    </details>
  )
}
