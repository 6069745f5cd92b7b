import type { ApiTable } from '../interpreter/api-types.ts'
import { jsonOperators } from '../interpreter/json-filter.ts'
import type { ColumnSketch } from '../interpreter/world.ts'
import { absent, place, type Tree } from './input.ts'
import { columnValue, type Scene } from './scene.ts'

/** Conditions on JSON values (spec/graphql.md 17.1), with keys and values that are common among drawn ones. */

const fragments = [
  '{"a": 1}',
  '{"b": ["x"]}',
  '[1]',
  '"x"',
  '"a"',
  '1',
  '{"a": {}}',
  '[["a"]]',
  'null',
  '{}',
  '[]',
  '1.0',
]
const keys = ['a', 'b', 'x', '', '0']
const steps = [['a'], ['b'], ['b', '1'], ['a', 'b'], [], ['0'], ['-1'], ['a', '1', 'b'], ['2', 'a']]
const paths = [
  '$.a',
  '$.b[*]',
  '$.b[*] ? (@ == 1)',
  '$.b[*] ? (@ == "x")',
  '$ ? (@.a > 1)',
  '$.a.b',
  '$[0]',
  '$[*] ? (@ == "a")',
  '$.*',
]
const predicates = ['$.a == 1', '$.a > 1', '$.b[*] == "x"', '$.a == null', '$.a.b == true', '$[*] == 1', '$.a.b']
const withVariable = {
  pathExists: ['$.b[*] ? (@ == $v)', '$ ? (@.a == $v)'],
  pathMatches: ['$.a == $v', '$.b[*] == $v'],
}
const variables = ['{"v": 1}', '{"v": "x", "w": 2}', '{"v": null}']

type PathOperator = keyof typeof withVariable

/** The parts of a value at a path: the types of their operands, and common values. */
const parts: Readonly<Record<string, { readonly scalar: string; readonly values: readonly Tree[] }>> = {
  text: { scalar: 'String', values: ['x', 'a', '1', 'true', 'b', '1.5', '[1, "x", null]'] },
  number: { scalar: 'BigFloat', values: ['1', '1.5', '2', '1.0'] },
  boolean: { scalar: 'Boolean', values: [true, false] },
}
const comparisons = {
  text: ['eq', 'neq', 'in', 'gt', 'startsWith'],
  number: ['eq', 'gte', 'lt', 'in'],
  boolean: ['eq'],
}

export function drawJsonFilter(scene: Scene, table: ApiTable, column: ColumnSketch, depth = 2): Tree {
  const { draw } = scene
  if (draw.chance(4)) return null
  const entries = Array.from({ length: draw.pick([1, 1, 1, 2, 0]) }, (): readonly [string, Tree] => {
    const operator = draw.pick([...jsonOperators, 'path', 'path'])
    scene.tell(`operator: ${operator} on JSON`)
    return [
      operator,
      operator === 'path' ? drawPaths(scene, table, column, depth) : drawOperand(scene, table, column, operator),
    ]
  })
  return place(scene, 'JSONFilter', new Map(entries))
}

function drawOperand(scene: Scene, table: ApiTable, column: ColumnSketch, operator: string): Tree {
  const { draw } = scene
  const value = (): Tree =>
    draw.chance(50) ? draw.pick(fragments) : ((columnValue(scene, table, column) ?? '{}') as Tree)
  switch (operator) {
    case 'is':
      return place(scene, 'FilterIs', { word: draw.pick(['NULL', 'NOT_NULL']) })
    case 'in':
      return given(scene, '[JSON!]', Array.from({ length: draw.int(4) }, value))
    case 'hasKey':
      return given(scene, 'String', draw.pick(keys))
    case 'hasAnyKey':
    case 'hasAllKeys':
      return given(scene, '[String!]', draw.chance(15) ? 'a' : draw.some(keys, 40))
    case 'pathExists':
    case 'pathMatches':
      return given(scene, 'JSONPathQuery', drawPathQuery(scene, operator))
    default:
      return given(scene, 'JSON', value())
  }
}

/** The operand, occasionally null or an absent variable. */
function given(scene: Scene, type: string, operand: Tree): Tree {
  if (scene.draw.chance(4)) return absent(scene, type)
  return place(scene, type, scene.draw.chance(5) ? null : operand)
}

function drawPathQuery(scene: Scene, operator: PathOperator): Tree {
  const { draw } = scene
  if (draw.chance(30))
    return new Map([
      ['path', draw.pick(withVariable[operator])],
      ['variables', draw.pick(variables)],
    ])
  const path = draw.pick(operator === 'pathExists' ? paths : predicates)
  return new Map<string, Tree>(
    draw.chance(20)
      ? [
          ['path', path],
          ['variables', null],
        ]
      : [['path', path]],
  )
}

function drawPaths(scene: Scene, table: ApiTable, column: ColumnSketch, depth: number): Tree {
  const { draw } = scene
  if (draw.chance(5)) return place(scene, '[JSONPathFilter!]', null)
  const items = Array.from({ length: draw.pick([1, 1, 2, 0]) }, () => drawPath(scene, table, column, depth))
  const [first] = items
  return draw.chance(20) && items.length === 1 && first !== undefined ? first : items
}

function drawPath(scene: Scene, table: ApiTable, column: ColumnSketch, depth: number): Tree {
  const { draw } = scene
  const entries = new Map<string, Tree>([['at', place(scene, '[String!]!', draw.pick(steps))]])
  for (const name of draw.some(Object.keys(comparisons), 45)) entries.set(name, drawPart(scene, name))
  if (depth > 0 && draw.chance(30)) entries.set('json', drawJsonFilter(scene, table, column, depth - 1))
  return entries
}

function drawPart(scene: Scene, name: string): Tree {
  const { draw } = scene
  const { scalar = '', values = [] } = parts[name] ?? {}
  scene.tell(`filter: ${name} at a path`)
  if (draw.chance(5)) return null
  if (draw.chance(25)) return new Map([['is', { word: draw.pick(['NULL', 'NOT_NULL']) }]])
  const operator = draw.pick(comparisons[name as keyof typeof comparisons])
  const operand = operator === 'in' ? [draw.pick(values), draw.pick(values)] : draw.pick(values)
  return new Map([[operator, given(scene, operator === 'in' ? `[${scalar}!]` : scalar, operand)]])
}
