import type { CompiledOperation } from '../../../runtime/graphql/compiled/format.ts'
import { shapeKeyOf } from '../../../runtime/graphql/compiled/shape.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { createVariableReader } from '../../../runtime/graphql/variables/read.ts'
import type { DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'

/** The part of a variable in the keys of shapes (docs/artifacts.md); null: its value does not fit its type. */
export function formOfVariable(
  variable: DeclaredVariable,
  form: Pick<CompiledOperation, 'planned' | 'nulls'>,
): (given: Readonly<Record<string, unknown>>) => string | null {
  const read = createVariableReader([variable])
  const key = shapeKeyOf([variable], form)
  return (given) => {
    try {
      return key(read(given)).slice(0, -1)
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
    }
  }
}
