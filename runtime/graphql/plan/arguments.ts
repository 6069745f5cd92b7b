import type { FunctionFacts } from '../../contract/manifest.ts'
import { badArgument } from '../protocol/failures.ts'
import { slotOf, type Input } from './input.ts'
import type { Argument } from './plan-nodes.ts'

/**
 * The arguments of a call in the function's order. An omitted argument is not passed, so that Postgres uses its
 * default; null is passed as NULL (spec/graphql.md 9.2).
 * @throws Refusal if an argument is given by position and an earlier one is missing
 */
export function planArguments({ args }: FunctionFacts, given: (name: string) => Input): readonly Argument[] {
  const inputs = args.map((argument) => ({ argument, input: given(argument.field) }))
  const byPlace = inputs.filter(({ argument }) => argument.positional === true)
  const missing = byPlace.findIndex(({ input }) => input.kind === 'absent')
  const after = byPlace.slice(missing + 1).find(({ input }) => input.kind !== 'absent')
  if (missing >= 0 && after !== undefined) {
    const before = byPlace[missing]?.argument.field ?? ''
    throw badArgument(`The argument "${after.argument.field}" can only be given together with "${before}"`)
  }
  return inputs.flatMap(({ argument, input }): readonly Argument[] => {
    if (input.kind === 'absent') return []
    const encoding = { kind: argument.type.list ? 'array' : 'scalar', maxLength: null } as const
    return [{ field: argument.field, value: { slot: slotOf(input), encoding } }]
  })
}
