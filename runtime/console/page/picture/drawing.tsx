import { memo } from 'react'
import { boxWidth, rowHeight, type Box, type Layout, type Line } from './layout.ts'

interface DrawingProps {
  readonly layout: Layout
  readonly zoom: number
  /** Its relations are highlighted; null: none. */
  readonly chosen: string | null
  readonly choose: (name: string) => void
}

/** The diagram. A list beneath it has the same content for screen readers. */
export function Drawing({ layout, zoom, chosen, choose }: DrawingProps) {
  const { width, height, boxes, lines } = layout
  const chosenLines = lines.filter((line) => touches(line, chosen))
  const near = new Set(chosenLines.flatMap(({ relation }) => [relation.from, relation.to]))
  const isDim = (name: string): boolean => chosen !== null && name !== chosen && !near.has(name)
  return (
    <svg
      role="img"
      aria-label={`${boxes.length} types and ${lines.length} relations`}
      width={width * zoom}
      height={height * zoom}
      viewBox={`0 0 ${width} ${height}`}
    >
      <defs>
        <marker id="one" viewBox="0 0 10 10" refX="9" refY="5" {...markerSize}>
          <path d="M1 1 L9 5 L1 9" className="tip" />
        </marker>
        <marker id="many" viewBox="0 0 10 10" refX="9" refY="5" {...markerSize}>
          <path d="M9 1 L1 5 L9 9 M1 5 H9" className="tip" />
        </marker>
      </defs>
      {lines.map((line) => (
        <path
          key={`${line.relation.from}.${line.relation.field}`}
          d={line.path}
          className={chosen === null ? 'line' : touches(line, chosen) ? 'line near' : 'line dim'}
          markerEnd={line.relation.many ? 'url(#many)' : 'url(#one)'}
        >
          <title>{`${line.relation.from}.${line.relation.field} → ${line.relation.to}`}</title>
        </path>
      ))}
      {boxes.map((box) => (
        <TypeBox key={box.type.name} box={box} dim={isDim(box.type.name)} choose={choose} />
      ))}
    </svg>
  )
}

const markerSize = { markerWidth: 12, markerHeight: 12, markerUnits: 'userSpaceOnUse', orient: 'auto' } as const

const touches = ({ relation }: Line, name: string | null): boolean => relation.from === name || relation.to === name

interface TypeBoxProps {
  readonly box: Box
  readonly dim: boolean
  readonly choose: (name: string) => void
}

const TypeBox = memo(function TypeBox({ box: { type, fields, x, y, height }, dim, choose }: TypeBoxProps) {
  const hidden = type.fields.length - fields.length
  return (
    <g className={dim ? 'box dim' : 'box'} transform={`translate(${x} ${y})`} onClick={() => choose(type.name)}>
      <rect width={boxWidth} height={height} rx="6" />
      <text x="10" y={rowHeight * 0.75} className="head">
        {type.name}
      </text>
      {fields.map((field, index) => (
        <text key={field.name} x="10" y={rowHeight * (index + 1.75)}>
          {shorten(field.name, longestName)}
          <tspan x={boxWidth - 10} textAnchor="end" className="type">
            {shorten(field.type, Math.max(6, lineLength - Math.min(field.name.length, longestName)))}
          </tspan>
        </text>
      ))}
      {hidden > 0 && (
        <text x="10" y={rowHeight * (fields.length + 1.75)} className="type">
          {hidden} more
        </text>
      )}
    </g>
  )
})

/** The characters of a line of a box, and the maximum for a name. */
const lineLength = 31
const longestName = 24

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
