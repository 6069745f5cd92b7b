import { ident } from '../../runtime/sql/ident.ts'
import type { CatalogOrder, Oid } from '../catalog/catalog.ts'
import { domainBase } from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { OrderSql } from './model.ts'

const symbols = ['<', '<=', '=', '>=', '>'] as const

/**
 * How a column's values are compared in orders and positions in them (spec/graphql.md 0, decision 20): ORDER BY uses
 * the default btree class of the type, whatever schema and names its operators have, while `<` is looked up on the
 * search path, which is that of the served schemas. The same holds for `like` and similar operators: not found there, a
 * citext would be matched as a text.
 */
export function orderSql(scope: ModelScope, oid: Oid): { readonly order?: OrderSql } {
  const type = scope.types.get(oid)
  const { order, patterns = [] } = (type?.kind === 'd' ? domainBase(scope, type) : type) ?? {}
  if (order == null || isFound(scope, order)) return {}
  const named = symbols.map((symbol, place) => [symbol, operatorText(order[place])] as const)
  const matching = patterns.map((operator) => [operator.name, operatorText(operator)] as const)
  return { order: Object.fromEntries([...named, ...matching]) as OrderSql }
}

const isFound = (scope: ModelScope, order: CatalogOrder): boolean =>
  order.every(({ schema, name }, place) => name === symbols[place] && scope.schemas.get(schema) !== undefined)

function operatorText(operator: CatalogOrder[number] | undefined): string {
  if (operator === undefined) throw new Error('a btree operator class lacks a strategy')
  return `operator(${ident(operator.schema)}.${operator.name})`
}
