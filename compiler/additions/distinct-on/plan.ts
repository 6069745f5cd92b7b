import type { Collection } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { inputValue, isGiven, type Args } from '../../../runtime/graphql/plan/input.ts'

declare module '../../../runtime/graphql/plan/plan-nodes.ts' {
  interface Collection {
    /** SQL names of columns: of the rows with equal values in them only the first in the order counts. */
    readonly distinct?: readonly string[]
  }
}

/** The values of the enum are SQL names; an empty list equals absence. */
export function planCollection(args: Args): Pick<Collection, 'distinct'> {
  const input = args('distinctOn')
  const columns = new Set(isGiven(input) ? (inputValue(input) as readonly string[]) : [])
  return columns.size === 0 ? {} : { distinct: [...columns] }
}
