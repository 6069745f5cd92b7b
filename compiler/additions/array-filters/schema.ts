import { GraphQLInputObjectType, type GraphQLInputType } from 'graphql'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'
import { listFilters, scalarFilters, type OperandField } from '../../../runtime/engine/schema/scalars.ts'
import { arrayForm } from './facts.ts'
import { planElements } from './plan.ts'
import { ofElements } from './statements.ts'

/** Quantified conditions on elements of a list. */
const quantifiers = {
  some: 'At least one element meets these conditions; with no condition, there is at least one.',
  every: 'All elements meet these conditions, also where there are none.',
  none: 'No element meets these conditions; with no condition, there are none at all.',
} as const

const filters: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  [...listFilters].map(([name, lists]) => {
    const type = scalarFilters.get(name) as GraphQLInputType
    const elements = Object.entries(quantifiers).map(([quantifier, description]): OperandField => [
      quantifier,
      { type, description },
    ])
    const fields = [...Object.entries(lists.toConfig().fields), ...elements].sort(([a], [b]) => (a < b ? -1 : 1))
    return [
      name,
      new GraphQLInputObjectType({
        name: `${name}ArrayFilter`,
        description: `Conditions on a list of values of type ${name} and on its elements; all that are given must hold.`,
        fields: Object.fromEntries(fields),
      }),
    ]
  }),
)

export const arrayFilters: SchemaAddition = {
  name: 'arrayFilters',
  forms: [
    {
      ...arrayForm,
      filter: (scalar) => filters.get(scalar),
      inputs: [...filters.values()],
      plan: (subject, name, operand) =>
        Object.hasOwn(quantifiers, name) ? planElements(subject, name, operand) : null,
      elements: ofElements,
    },
  ],
}
