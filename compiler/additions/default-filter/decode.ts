import { conditionsOnColumns } from '../../comments/additions.ts'
import type { Key } from '../../comments/keys.ts'

export const keys = [
  {
    key: 'defaultFilter',
    on: ['relation'],
    decode: conditionsOnColumns,
    help:
      '{"column": {"operator": value}}, with is ("NULL" or "NOT_NULL"), eq, neq, lt, lte, gt, gte or in: the rows that its ' +
      'collections have where no filter is given.',
  },
] as const satisfies readonly Key[]
