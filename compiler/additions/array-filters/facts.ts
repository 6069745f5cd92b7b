import { scalarNames } from '../../../runtime/contract/scalar-names.ts'
import type { Form } from '../../../runtime/sql/form.ts'
import { listOperators } from '../../../runtime/sql/operators.ts'
import { scalarTable } from '../../../runtime/sql/scalars.ts'

export const arrayForm: Form = {
  name: 'array',
  keys: ['arrayFilters'],
  lists: true,
  types: [
    'StringArrayFilter',
    ...scalarNames.filter((name) => scalarTable[name].lists).map((name) => `${name}ArrayFilter`),
  ],
  subject: 'a list',
  usual: listOperators,
  // Conditions on elements are those of their scalar.
  scalar: 'Opaque',
  own: {},
}
