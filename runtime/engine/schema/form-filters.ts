import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from 'graphql'
import type { ScalarName } from '../../contract/scalar-names.ts'
import type { FormOperator } from '../../sql/form.ts'
import { operators } from '../../sql/operators.ts'
import type { FilterForm } from '../additions.ts'
import type { RoleVisibility } from '../view.ts'
import { operandType, type OperandField, scalars } from './scalars.ts'

/** The filter types of forms (spec/graphql.md 17): each exists only if some value has the form. */

const ownType = ({ takes, list, members }: FormOperator, inputs: FilterForm['inputs']): GraphQLInputType => {
  const input = inputs?.find(({ name }) => name === members?.type)
  if (input !== undefined) return input
  return list === true ? new GraphQLList(new GraphQLNonNull(scalars[takes])) : scalars[takes]
}

/**
 * The filter type with a form's operators.
 *
 * @param others members without an operator
 * @param isExtended whether it has operators of extensions
 */
export const filterOfForm = (
  form: FilterForm,
  others: () => readonly OperandField[] = () => [],
  isExtended = true,
): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name: form.types[0],
    description: `Conditions on ${form.subject}; all that are given must hold.`,
    fields: () => formFields(form, others(), isExtended),
  })

function formFields(
  { usual, scalar, own, inputs }: FilterForm,
  others: readonly OperandField[],
  isExtended: boolean,
): Readonly<Record<string, OperandField[1]>> {
  const fields: readonly OperandField[] = [
    ...usual.map((name): OperandField => [
      name,
      { type: operandType(name, scalars[scalar]), description: operators[name].help },
    ]),
    ...Object.entries(own)
      .filter(([, { extension }]) => extension === undefined || isExtended)
      .map(([name, operator]): OperandField => [name, { type: ownType(operator, inputs), description: operator.help }]),
    ...others,
  ]
  return Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A form as a role has it, with the types of the form that it is combined with. */
function formFor({ forms }: RoleVisibility, name: string): FilterForm {
  const form = forms.get(name)
  if (form === undefined) throw new Error(`there is no form ${name}`)
  const also = form.also === undefined ? undefined : forms.get(form.also)
  return also === undefined ? form : { ...form, inputs: [...(also.inputs ?? []), ...(form.inputs ?? [])] }
}

export function formFilters(visible: RoleVisibility) {
  const made = new Map<string, GraphQLInputObjectType>()
  // Two forms may have the same type.
  const filterOf = (form: FilterForm): GraphQLInputObjectType => {
    const isExtended = form.optional === undefined || visible.hasExtension(form.optional.name)
    const filter = made.get(form.types[0]) ?? filterOfForm(form, undefined, isExtended)
    made.set(form.types[0], filter)
    return filter
  }
  return {
    filter: (name: string, scalar: ScalarName): GraphQLInputObjectType | undefined => {
      const form = formFor(visible, name)
      return form.filter === undefined ? filterOf(form) : form.filter(scalar)
    },
    types: (name: string): readonly GraphQLInputObjectType[] => {
      const form = formFor(visible, name)
      return [...(form.filter === undefined ? [filterOf(form)] : []), ...(form.inputs ?? [])]
    },
  }
}
