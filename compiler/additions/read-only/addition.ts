import { columnsAbsentFrom } from '../../comments/column-access.ts'
import { keyAddition } from '../addition.ts'

/** Columns that a role reads and does not write (spec/graphql.md 17.5). */
export const readOnly = keyAddition('readOnly', {
  on: ['relation'],
  decode: columnsAbsentFrom('inputs'),
  isAccess: true,
  help: '{"role": ["column", ...]}: columns that the inputs of the role lack; "public" is everybody.',
})
