import type { DeclaredVariable } from '../variables/input-types.ts'
import { shapeOf, type ShapeOf } from '../variables/read.ts'
import type { CompiledOperation } from './format.ts'

type Given = Readonly<Record<string, unknown>>

/**
 * The key of what a compiled operation does with such variables; they are coerced, unless it is lenient.
 * @param areHoles false: the key of what is done when the holes are filled
 */
export function shapeKeyOf(
  declared: readonly DeclaredVariable[],
  { planned, nulls, lenient }: Pick<CompiledOperation, 'planned' | 'nulls' | 'lenient'>,
  areHoles = true,
): ShapeOf {
  if (lenient === true) return (values) => JSON.stringify(values)
  const shape = shapeOf(declared, new Map(Object.entries(planned)), areHoles)
  return (values) => shape(withoutNulls(values, nulls))
}

function withoutNulls(values: Given, nulls: readonly string[]): Given {
  const left = nulls.filter((name) => values[name] === null)
  if (left.length === 0) return values
  return Object.fromEntries(Object.entries(values).filter(([name]) => !left.includes(name)))
}
