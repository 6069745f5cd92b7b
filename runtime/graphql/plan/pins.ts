import type { EntityFacts } from '../../contract/manifest.ts'
import type { ScalarName } from '../../contract/scalar-names.ts'
import { comparedColumn } from './conditions.ts'
import type { DirectJoin, Filter } from './plan-nodes.ts'
import type { Demand, JoinedPins, PinForm } from './watched-reads.ts'
import type { Value } from './values.ts'

/** The rows that a filter can match, as far as it names values of columns (spec/graphql.md 16). */

const forms: Partial<Record<ScalarName, PinForm>> = {
  Int: 'integer',
  BigInt: 'integer',
  UUID: 'uuid',
  Boolean: 'boolean',
  Date: 'date',
  String: 'text',
}

/** The text form of a column's values; null: they cannot be pinned. */
function pinForm({ live, columns }: EntityFacts, column: string): PinForm | null {
  if (live === undefined || !('reads' in live) || live.own?.pins.includes(column) !== true) return null
  const type = columns.find((item) => item.column === column)?.type
  if (type == null || type.kind === 'composite' || type.list) return null
  return type.kind === 'enum' ? 'text' : (forms[type.name] ?? null)
}

/** Null: any values match. */
export function demandOf(entity: EntityFacts, filter: Filter | null): Demand | null {
  if (filter === null) return null
  switch (filter.kind) {
    case 'all':
      return allOf(filter.of.map((one) => demandOf(entity, one)))
    case 'any': {
      const of = filter.of.flatMap((one) => demandOf(entity, one) ?? [])
      return of.length === filter.of.length ? { kind: 'any', of } : null
    }
    case 'key':
      return keyDemand(entity, entity.key, filter.values)
    case 'compare': {
      const isPin = filter.operator === 'eq' || filter.operator === 'in'
      const column = comparedColumn(filter)
      if (!isPin || column === null) return null
      return equal(entity, column, filter.value, filter.operator === 'in')
    }
    case 'not':
    case 'compare-column':
    case 'presence':
    case 'spatial':
    case 'form':
    case 'elements':
    case 'meant':
    case 'related':
      return null
  }
}

/** @param columns the columns that equal the values */
export const keyDemand = (entity: EntityFacts, columns: readonly string[], values: readonly Value[]): Demand | null =>
  allOf(values.map((value, place) => equal(entity, columns[place] ?? '', value, false)))

export const bothOf = (left: Demand | null, right: Demand | null): Demand | null => allOf([left, right])

function allOf(demands: readonly (Demand | null)[]): Demand | null {
  const of = demands.filter((demand) => demand !== null)
  const [first] = of
  return first === undefined ? null : of.length === 1 ? first : { kind: 'all', of }
}

function equal(entity: EntityFacts, column: string, value: Value, each: boolean): Demand | null {
  const form = pinForm(entity, column)
  return form === null ? null : { kind: 'equal', column, form, value, each }
}

/** The pins of the rows here that follow from a row at the other end of a join. */
export const joinedPins = (
  there: EntityFacts,
  here: EntityFacts,
  { local, foreign }: DirectJoin,
): readonly JoinedPins[] =>
  local.flatMap((column, place) => {
    const other = foreign[place] ?? ''
    const form = pinForm(there, column)
    return form !== null && form === pinForm(here, other) ? [{ there: column, here: other }] : []
  })
