import { ident } from '../../runtime/sql/ident.ts'
import type { CatalogOrder, Oid } from '../catalog/types.ts'
import { domainBase } from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { OrderSql } from './types.ts'

const symbols = ['<', '<=', '=', '>=', '>'] as const

/**
 * How a column's values are compared in orders and positions in them (spec/graphql.md 0, decision 20): ORDER BY uses
 * the default btree class of the type, in whichever schema and under whichever name its operators are, while `<` is
 * looked up on the search path, which is that of the served schemas.
 */
export function orderSql(scope: ModelScope, oid: Oid): { readonly order?: OrderSql } {
  const type = scope.types.get(oid)
  const order = (type?.kind === 'd' ? domainBase(scope, type) : type)?.order
  if (order == null || isFound(scope, order)) return {}
  const named = symbols.map((symbol, place) => [symbol, operatorText(order, place)] as const)
  return { order: Object.fromEntries(named) as OrderSql }
}

const isFound = (scope: ModelScope, order: CatalogOrder): boolean =>
  order.every(({ schema, name }, place) => name === symbols[place] && scope.schemas.get(schema) !== undefined)

function operatorText(order: CatalogOrder, place: number): string {
  const operator = order[place]
  if (operator === undefined) throw new Error(`a btree operator class lacks strategy ${place + 1}`)
  return `operator(${ident(operator.schema)}.${operator.name})`
}
