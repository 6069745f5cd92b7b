import { additionOperations, type AdditionOperation } from './additions.ts'
import { goodsOperations } from './goods.ts'
import { groupOperations } from './groups.ts'
import { nestedOperations } from './nested.ts'
import { valueOperations } from './values.ts'
import { writeOperations } from './writes.ts'

/** Operations that need a key of a comment. */
export const addedOperations: readonly AdditionOperation[] = [
  ...additionOperations,
  ...valueOperations,
  ...goodsOperations,
  ...groupOperations,
  ...writeOperations,
  ...nestedOperations,
]
