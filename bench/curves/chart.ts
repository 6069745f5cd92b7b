import { figure, medianWithin, type Spread } from '../support/statistics.ts'
import { exponentWithin, parties, type Curve, type Party } from './report.ts'

/** Curves as a picture: cost over size, a panel for each axis, both scales logarithmic, so that a slope is an exponent. */

const panel = { width: 260, height: 220, left: 44, right: 12, top: 34, bottom: 30 } as const
const colours: Readonly<Record<Party, string>> = { serverCpu: '#1f6feb', databaseCpu: '#bc4c00' }
const costs = [10, 100, 1_000, 10_000] as const

/** The position of a value on a logarithmic scale, from 0 to 1. */
const place = (value: number, first: number, last: number): number =>
  last === first ? 0.5 : Math.log(value / first) / Math.log(last / first)

interface Scales {
  readonly x: (size: number) => number
  readonly y: (cost: number) => number
}

/** A size of 0 is shown a little before the others. */
const scalesOf = ({ points }: Curve): Scales => {
  const sizes = points.map(({ size }) => size).filter((size) => size > 0)
  const [first, last] = [Math.min(...sizes), Math.max(...sizes)]
  const zero = points.some(({ size }) => size === 0) ? 0.12 : 0
  const across = panel.width - panel.left - panel.right
  const down = panel.height - panel.top - panel.bottom
  const share = (size: number): number => (size === 0 ? 0 : zero + (1 - zero) * place(size, first, last))
  return {
    x: (size) => panel.left + across * share(size),
    y: (cost) => panel.top + down * (1 - place(cost, costs[0], costs[3])),
  }
}

const tag = (name: string, attributes: Readonly<Record<string, string | number>>, content = ''): string => {
  const written = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${typeof value === 'number' ? Number(value.toFixed(1)) : value}"`
  })
  return `<${name}${written.join('')}>${content}</${name}>`
}

const label = (x: number, y: number, content: string, more: Readonly<Record<string, string>> = {}): string =>
  tag('text', { x, y, ...more }, content)

const gridOf = ({ points }: Curve, { x, y }: Scales): readonly string[] => [
  ...costs.flatMap((cost) => [
    tag('line', { x1: panel.left, x2: panel.width - panel.right, y1: y(cost), y2: y(cost), stroke: '#d0d7de' }),
    label(panel.left - 5, y(cost) + 3, `${cost}`, { 'text-anchor': 'end' }),
  ]),
  ...points.map(({ size }) => label(x(size), panel.height - panel.bottom + 14, `${size}`, { 'text-anchor': 'middle' })),
]

const lineOf = (curve: Curve, party: Party, { x, y }: Scales): readonly string[] => {
  const stroke = colours[party]
  const found = curve.points.map(({ size, series }): [number, Spread] => [size, medianWithin(series[party])])
  const path = found.map(([size, { median }]) => `${x(size).toFixed(1)},${y(median).toFixed(1)}`).join(' ')
  return [
    tag('polyline', { points: path, fill: 'none', stroke, 'stroke-width': 1.5 }),
    ...found.flatMap(([size, { median, min, max }]) => [
      tag('line', { x1: x(size), x2: x(size), y1: y(min), y2: y(max), stroke }),
      tag(
        'circle',
        { cx: x(size), cy: y(median), r: 2.5, fill: stroke },
        tag('title', {}, `${size}: ${figure(median)} µs`),
      ),
    ]),
  ]
}

const panelOf = (curve: Curve, index: number): string => {
  const scales = scalesOf(curve)
  const names = Object.keys(parties) as Party[]
  const exponents = names.map((party, at) =>
    label(panel.left + at * 108, 28, `${parties[party]} n^${exponentWithin(curve, party).median.toFixed(2)}`, {
      fill: colours[party],
    }),
  )
  const parts = [
    label(panel.left, 14, curve.axis, { 'font-weight': 'bold' }),
    ...exponents,
    ...gridOf(curve, scales),
    ...names.flatMap((party) => lineOf(curve, party, scales)),
  ]
  return tag('g', { transform: `translate(${index * panel.width} 0)` }, `\n${parts.join('\n')}\n`)
}

/** The curves side by side, as SVG: microseconds of CPU for a request, by size. */
export const drawCurves = (curves: readonly Curve[]): string => {
  const [width, height] = [panel.width * curves.length, panel.height]
  const content = [tag('rect', { width, height, fill: '#ffffff' }), ...curves.map(panelOf)].join('\n')
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    'font-family': 'sans-serif',
    'font-size': 10,
    fill: '#24292f',
  }
  return `${tag('svg', attributes, `\n${content}\n`)}\n`
}
