import { apiTableOf } from '../interpreter/api.ts'
import { argumentsOf } from '../interpreter/calls.ts'
import type { ColumnType, FunctionSketch, Value } from '../interpreter/world.ts'
import { absent, place, type Tree } from './input.ts'
import { inputType, isWritable, toTree, writableOf, type Scene } from './scene.ts'
import { drawConnection, drawRow, printArguments } from './selection.ts'
import { drawValue } from './values.ts'

/** Labels that are invalid names cannot be written. */
function writableValue(scene: Scene, type: ColumnType): Exclude<Value, null> {
  const drawn = drawValue(scene.draw, scene.world, type)
  if (isWritable(scene, type, drawn)) return drawn
  return type.list ? [] : (writableOf(scene, type) ?? drawn)
}

/** A function with its arguments; those with a default are occasionally omitted. */
export function drawCall(scene: Scene, fn: FunctionSketch, depth: number): string {
  const { draw } = scene
  scene.tell(`function: ${fn.body.kind}${fn.volatile ? ', volatile' : ''}`)
  const args: ReadonlyMap<string, Tree> = new Map(
    (argumentsOf(scene.world, fn) ?? []).flatMap(({ name, type, required }): [string, Tree][] => {
      const one = inputType(scene, type)
      const declared = `${type.list ? `[${one}]` : one}${required ? '!' : ''}`
      if (!required && draw.chance(50))
        return draw.chance(50) ? [] : [[name, draw.chance(50) ? null : absent(scene, declared)]]
      const value = fn.body.kind === 'sum' ? draw.int(9) : writableValue(scene, type)
      return [[name, place(scene, declared, toTree(scene, type, value))]]
    }),
  )
  const { body } = fn
  if (body.kind === 'rows') return drawConnection(scene, apiTableOf(scene.api, body.table), depth, args)
  const selection = body.kind === 'row' ? ` { ${drawRow(scene, apiTableOf(scene.api, body.table), depth)} }` : ''
  return `${printArguments(args)}${selection}`
}
