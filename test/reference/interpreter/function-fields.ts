import type { RootField, RowField } from './api-types.ts'
import { argumentsOf, isComputed, isExecutable, isHiddenOverload } from './calls.ts'
import { functionNameOf, isName } from './names.ts'
import { compareText } from './types.ts'
import { grantsOf, type FunctionSketch, type Role, type TableSketch, type World } from './world.ts'

/** The fields of functions, at the root and in rows (spec/graphql.md 9). */

/** Only the node id may have its name. */
export const isFieldName = (name: string): boolean => isName(name) && name !== 'nodeId'

/** Functions in byte order of their names. */
export const byName = (functions: readonly FunctionSketch[]): readonly FunctionSketch[] =>
  [...functions].sort((a, b) => compareText(a.name, b.name))

/** Tables keep their names before functions, earlier functions before later ones (spec/graphql.md 2.4, 9.1). */
export function addCall(
  world: World,
  role: Role,
  exposed: readonly TableSketch[],
  fields: Map<string, RootField>,
  fn: FunctionSketch,
): void {
  const name = functionNameOf(fn.name, fn.field, world.inflects)
  const { body } = fn
  const target = body.kind === 'rows' || body.kind === 'row' ? body.table : null
  const isShown = target === null || exposed.some((table) => table.name === target)
  if (
    isComputed(fn) ||
    isHiddenOverload(world, fn) ||
    !isExecutable(fn, role) ||
    !isName(name) ||
    !isShown ||
    argumentsOf(world, fn) === null ||
    fields.has(name)
  )
    return
  fields.set(name, { kind: 'call', function: fn })
}

/** A computed field gets the whole row, so the whole row must be readable (spec/graphql.md 1.4). */
export function addComputed(
  world: World,
  role: Role,
  exposed: readonly TableSketch[],
  sketch: TableSketch,
  fields: Map<string, RowField>,
): void {
  if (grantsOf(sketch, role).select !== 'all') return
  for (const fn of byName(world.functions)) {
    const { body } = fn
    if (!('table' in body) || body.table !== sketch.name || !isComputed(fn) || !isExecutable(fn, role)) continue
    if ('target' in body && !exposed.some((table) => table.name === body.target)) continue
    if (argumentsOf(world, fn) === null) continue
    const name = functionNameOf(fn.name, fn.field, world.inflects)
    if (isFieldName(name)) fields.set(name, { kind: 'computed', function: fn })
  }
}
