import { columnsAbsentFrom } from '../../comments/column-access.ts'
import type { Key } from '../../comments/keys.ts'
import type { Addition } from '../addition.ts'

const keys = [
  {
    key: 'readOnly',
    on: ['relation'],
    decode: columnsAbsentFrom('inputs'),
    isAccess: true,
    help: '{"role": ["column", ...]}: columns that the inputs of the role lack; "public" is everybody.',
  },
] as const satisfies readonly Key[]

/** Columns that a role reads and does not write (spec/graphql.md 17.5). */
export const readOnly = { name: 'readOnly', keys } satisfies Addition
