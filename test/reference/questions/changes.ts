import type { ApiTable } from '../interpreter/api-types.ts'
import type { OperatorName } from '../interpreter/operators.ts'
import type { BaseType, ColumnSketch } from '../interpreter/world.ts'
import { absent, place, type Tree } from './input.ts'
import { inputType, isWritable, toTree, type Scene } from './scene.ts'
import { drawValue } from './values.ts'

/** The changes of an update (spec/graphql.md 17.4): set values, and operators. */

type DrawSet = (isFree: (column: ColumnSketch) => boolean) => Tree

/** The arguments; a column is mostly changed by one of them only. */
export function drawChanges(scene: Scene, table: ApiTable, drawSet: DrawSet): ReadonlyMap<string, Tree> {
  const { draw } = scene
  const operators = [...table.operators]
  if (operators.length === 0 || draw.chance(35)) return new Map([['set', drawSet(() => true)]])
  const taken = new Set<string>()
  const clash = scene.spoil()
  if (clash) scene.tell('refusal: a column twice')
  const isFree = ({ name }: ColumnSketch): boolean => clash || !taken.has(name)
  const some = draw.some(operators, 35)
  const args = new Map<string, Tree>()
  for (const [name, columns] of some.length === 0 ? [draw.pick(operators)] : some) {
    const free = [...columns].filter(([, column]) => isFree(column) && (!isKey(table, column) || draw.chance(20)))
    const chosen = draw.some(free, 60)
    for (const [, column] of chosen) taken.add(column.name)
    if (chosen.length > 0) scene.tell(`update: ${name}`)
    const operands = new Map(chosen.map(([field, column]) => [field, drawOperand(scene, name, column)]))
    args.set(name, draw.chance(4) ? null : place(scene, `${table.type}${typeOf(name)}Input`, operands))
  }
  if (draw.chance(50)) args.set('set', drawSet(isFree))
  return args
}

const isKey = ({ sketch }: ApiTable, { name }: ColumnSketch): boolean => sketch.primaryKey.includes(name)

const typeOf = (name: OperatorName): string => name.slice(0, 1).toUpperCase() + name.slice(1)

const ofNumbers: Readonly<Partial<Record<BaseType, readonly (number | string)[]>>> = {
  int2: [1, -1, 2],
  int4: [1, -1, 2, 0, 2147483647],
  int8: ['1', '-2', '0', '9223372036854775807'],
  numeric: ['1', '0.5', '-2.25', '0.0005', '1.10'],
  'numeric(8,2)': ['1', '0.005', '-2.25', '1.155', '1000000'],
  float8: [1, 0.5, -2],
}
const fragments = [
  '{"a": 1}',
  '{"b": [1], "c": null}',
  '[1]',
  '["a", {"a": 1}]',
  '"x"',
  '1',
  'null',
  '{}',
  '[]',
  '[[1]]',
]
const places = [['a'], ['b'], ['b', '0'], ['a', 'b'], [], ['0'], ['-1'], ['7'], ['-7'], ['a', '1', 'b'], ['b', 'x']]

function drawOperand(scene: Scene, name: OperatorName, column: ColumnSketch): Tree {
  const { draw } = scene
  const type = declared(scene, name, column)
  if (draw.chance(4)) return absent(scene, type)
  if (draw.chance(4)) return place(scene, type, null)
  return place(scene, type, valueFor(scene, name, column))
}

function declared(scene: Scene, name: OperatorName, { type }: ColumnSketch): string {
  if (name === 'setKey') return '[JSONSetKey!]'
  if (name === 'unsetKey') return '[JSONUnsetKey!]'
  return type.list ? `[${inputType(scene, type)}]` : inputType(scene, type)
}

function valueFor(scene: Scene, name: OperatorName, { type }: ColumnSketch): Tree {
  const { draw } = scene
  if (name === 'setKey' || name === 'unsetKey')
    return Array.from({ length: draw.pick([1, 1, 2, 0]) }, () => {
      const path = draw.pick(places)
      const at = place(scene, '[String!]!', path)
      return new Map<string, Tree>(
        name === 'setKey'
          ? [
              ['at', at],
              ['value', place(scene, 'JSON!', draw.pick(fragments))],
            ]
          : [['at', at]],
      )
    })
  if (type.base === 'jsonb') return draw.pick(fragments)
  const numbers = type.list ? undefined : ofNumbers[type.base]
  if (numbers !== undefined) return draw.pick(numbers)
  const value = drawValue(draw, scene.world, type)
  return isWritable(scene, type, value) ? toTree(scene, type, value) : []
}
