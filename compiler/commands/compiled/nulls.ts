import { isDeepStrictEqual } from 'node:util'
import type { Document } from '../../../runtime/graphql/prepared/document.ts'
import { Refusal } from '../../../runtime/graphql/protocol/failures.ts'
import { namedInput, type DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'
import { usualOnes } from './foreseen.ts'

type Given = Readonly<Record<string, unknown>>

/** With more Booleans that decide selections, null is treated as different from absence. */
const mostSwitches = 5

/**
 * Variables for which null equals absence: with the fewest others and with all, for each value of the Booleans that
 * select fields which may use them.
 */
export function nullsOf(
  declared: readonly DeclaredVariable[],
  { prepare, sketch: { planned } }: Document,
  thought: readonly Given[],
): readonly string[] {
  const switches = declared.filter(
    ({ name, type }) => planned.get(name) === 'value' && namedInput(type).text === 'Boolean',
  )
  if (switches.length > mostSwitches) return []
  const settings = switches.reduce<readonly Given[]>(
    (all, { name }) => all.flatMap((given) => [true, false].map((value) => ({ ...given, [name]: value }))),
    [{}],
  )
  const usual = usualOnes(declared, thought).flatMap((given) => settings.map((set) => ({ ...given, ...set })))
  return declared
    .filter(({ name, type, byDefault }) => {
      if (type.kind === 'non-null' || byDefault !== undefined) return false
      const outcomes = usual.flatMap((given) => {
        const { [name]: _left, ...others } = given
        const without = outcomeOf(() => prepare(others))
        if (without instanceof Refusal) return []
        const withNull = outcomeOf(() => prepare({ ...others, [name]: null }))
        return [!(withNull instanceof Refusal) && isDeepStrictEqual(without.statements, withNull.statements)]
      })
      return outcomes.length > 0 && outcomes.every((isAlike) => isAlike)
    })
    .map(({ name }) => name)
}

export function outcomeOf<T>(work: () => T): T | Refusal {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
