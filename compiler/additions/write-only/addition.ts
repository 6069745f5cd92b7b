import { columnsAbsentFrom } from '../../comments/column-access.ts'
import type { Key } from '../../comments/keys.ts'
import type { Addition } from '../addition.ts'

const keys = [
  {
    key: 'writeOnly',
    on: ['relation'],
    decode: columnsAbsentFrom('answers'),
    isAccess: true,
    help: '{"role": ["column", ...]}: columns that the answers and filters of the role lack; "public" is everybody.',
  },
] as const satisfies readonly Key[]

/** Columns that a role writes and does not read (spec/graphql.md 17.5). */
export const writeOnly = { name: 'writeOnly', keys } satisfies Addition
