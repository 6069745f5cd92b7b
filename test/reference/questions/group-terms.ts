import type { GroupFigure } from '../interpreter/aggregate.ts'
import type { ApiTable } from '../interpreter/api-types.ts'
import { operatorsOf } from '../interpreter/types.ts'
import type { ColumnSketch, Json } from '../interpreter/world.ts'
import { drawOperand } from './filter.ts'
import { hasOneText, type Chosen } from './group-keys.ts'
import { place, type Branch, type Tree } from './input.ts'
import { allowsNull, directions, elementJson, entry, type Element } from './page.ts'
import type { Scene } from './scene.ts'

/** The order and conditions of groups (spec/graphql.md 17.2). */

type Figures = readonly (readonly [name: GroupFigure, field: string, column: ColumnSketch])[]

export const figuresOf = (table: ApiTable): Figures =>
  [...table.figures].flatMap(([name, columns]) => [...columns].map(([field, column]) => [name, field, column] as const))

/** Quarters of whole numbers are exact, and print alike everywhere. */
const quarters = [0, 0.25, 0.5, 0.75, 1]
const evenlyMeasured = (table: ApiTable): readonly string[] =>
  [...(table.figures.get('sum') ?? [])].flatMap(([name, { type }]) => (/^int[24]$/.test(type.base) ? [name] : []))

/** The extremes of such numbers may print in more than one way, too. */
const isExact = ([name, , column]: Figures[number]): boolean => (name !== 'min' && name !== 'max') || hasOneText(column)

interface PercentileTerm {
  readonly at: number
  readonly field: string
  readonly direction: string | null
}

export type GroupTerm = Element | PercentileTerm

const isPercentile = (term: GroupTerm): term is PercentileTerm => !Array.isArray(term)

export const termTree = (term: GroupTerm): Tree =>
  isPercentile(term)
    ? new Map([
        [
          'percentile',
          new Map<string, Tree>([
            ['at', term.at],
            ['of', entry([[term.field], term.direction])],
          ]),
        ],
      ])
    : entry(term)

export const termJson = (term: GroupTerm): Json =>
  isPercentile(term)
    ? { percentile: { at: term.at, of: elementJson([[term.field], term.direction]) } }
    : elementJson(term)

export function drawOrder(scene: Scene, table: ApiTable, keys: readonly Chosen[]): readonly GroupTerm[] {
  const { draw } = scene
  const figures = figuresOf(table).filter(isExact)
  const measured = evenlyMeasured(table)
  return Array.from({ length: draw.pick([0, 1, 1, 2]) }, () => {
    const kind = draw.pick([
      ...['key', 'count'],
      ...(figures.length > 0 ? ['figure', 'figure'] : []),
      ...(measured.length > 0 ? ['percentile'] : []),
    ])
    const direction = allowsNull(scene) && draw.chance(5) ? null : draw.pick(directions)
    if (kind === 'percentile') {
      scene.tell('group order: percentile')
      return { at: draw.pick(quarters), field: draw.pick(measured), direction }
    }
    const [name, field] = figures.length > 0 ? draw.pick(figures) : ['', '']
    const key = draw.pick(keys)
    const path =
      kind === 'key' ? [key.member, ...key.path] : kind === 'count' ? ['count'] : [String(name), String(field)]
    scene.tell(`group order: ${path[0]}`)
    return [path, direction] as const
  })
}

const countColumn: ColumnSketch = {
  name: 'count',
  type: { base: 'int4', list: false, enum: null },
  notNull: true,
  fallback: { kind: 'none' },
  field: null,
}

function drawConditions(
  scene: Scene,
  table: ApiTable,
  [name, field, column]: Figures[number] | ['count', '', ColumnSketch],
): Branch {
  const { draw } = scene
  const isCount = name === 'count' || name === 'countDistinct'
  const isNumber = name === 'sum' || name === 'avg' || isCount
  const operators = isNumber
    ? ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq']
    : operatorsOf(column.type, {}).filter((operator) => operator !== 'regex' && operator !== 'iregex')
  const operator = draw.pick(operators)
  scene.tell(`having: ${name}`)
  const isInteger = isCount || (name === 'sum' && /^int/.test(column.type.base))
  const type = isCount ? 'Int' : isInteger ? 'BigInt' : 'BigFloat'
  const one = (): Tree => (isCount ? draw.int(4) : isInteger ? String(draw.int(4)) : draw.pick(['0', '1.5', '2', '-1']))
  const operand = !isNumber
    ? drawOperand(scene, table, column, operator)
    : operator === 'is'
      ? { word: draw.pick(['NULL', 'NOT_NULL']) }
      : operator === 'in'
        ? place(scene, `[${type}!]`, [one(), one()])
        : place(scene, type, draw.chance(5) ? null : one())
  const conditions: Branch = new Map(operand === undefined ? [] : [[operator, operand]])
  return new Map([[name, name === 'count' ? conditions : new Map([[field, conditions]])]])
}

function drawPercentileConditions(scene: Scene, fields: readonly string[]): Branch {
  const { draw } = scene
  const operator = draw.pick(['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'])
  scene.tell('having: percentile')
  const one = (): Tree => draw.pick([0, 1, 1.5, 2.25, -3])
  const operand =
    operator === 'is'
      ? { word: draw.pick(['NULL', 'NOT_NULL']) }
      : place(scene, operator === 'in' ? '[Float!]' : 'Float', operator === 'in' ? [one(), one()] : one())
  const conditions: Branch = new Map(operand === undefined || draw.chance(10) ? [] : [[operator, operand]])
  const of: Branch = new Map([[draw.pick(fields), conditions]])
  const at = place(scene, 'Float!', scene.spoil() && conditions.size > 0 ? 1.25 : draw.pick(quarters))
  return new Map([
    [
      'percentile',
      new Map<string, Tree>([
        ['at', at],
        ['of', of],
      ]),
    ],
  ])
}

export function drawHaving(scene: Scene, table: ApiTable, depth = 2): Branch {
  const { draw } = scene
  const figures = figuresOf(table)
  if (depth > 0 && draw.chance(30)) {
    const name = draw.pick(['or', 'and', 'not'] as const)
    scene.tell(`having: ${name}`)
    const inner = (): Branch => drawHaving(scene, table, depth - 1)
    return new Map([[name, name === 'not' ? inner() : Array.from({ length: draw.int(3) }, inner)]])
  }
  if (draw.chance(8)) return new Map()
  const measured = evenlyMeasured(table)
  if (measured.length > 0 && draw.chance(25)) return drawPercentileConditions(scene, measured)
  return drawConditions(
    scene,
    table,
    figures.length > 0 && draw.chance(55) ? draw.pick(figures) : ['count', '', countColumn],
  )
}
