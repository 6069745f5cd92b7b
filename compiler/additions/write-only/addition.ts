import { columnsAbsentFrom } from '../../comments/column-access.ts'
import { keyAddition } from '../addition.ts'

/** Columns that a role writes and does not read (spec/graphql.md 17.5). */
export const writeOnly = keyAddition('writeOnly', {
  on: ['relation'],
  decode: columnsAbsentFrom('answers'),
  isAccess: true,
  help: '{"role": ["column", ...]}: columns that the answers and filters of the role lack; "public" is everybody.',
})
