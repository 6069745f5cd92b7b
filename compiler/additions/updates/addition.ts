import { changeOperatorNames } from '../../../runtime/sql/change-operators.ts'
import { rowKeyFacts } from '../../model/lookups.ts'
import { tableAddition } from '../addition.ts'
import { mutationNames, parts, typeNames } from './facts.ts'

/** Changes of rows by their keys, and by operators (spec/graphql.md 17.4). */
export const updates = tableAddition(
  'updates',
  'lets rows of it be changed by their keys, many at once with values of their own, and by operators such as increment',
  {
    parts,
    writes: true,
    changeInputs: changeOperatorNames,
    typeNames,
    marks: ['updates'],
    relationFacts: rowKeyFacts,
    mutationNames,
  },
)
