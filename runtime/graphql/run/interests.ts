import type { Interest, LiveRelation, Pin } from '../../contract/live.ts'
import { objectId } from '../../contract/facts.ts'
import type { Demand, PinForm, WatchedRead } from '../plan/watched-reads.ts'
import type { Prepared } from '../prepared/document.ts'
import { bindEach, bindValue, type BoundVariables } from './bind.ts'

/** Combinations of column values: a row that matters has all values of one of them. An empty one: any values. */
type Alternatives = readonly (readonly Pin[])[]

const anyValues: Alternatives = [[]]

/** A read with more combinations counts as one of any values. */
const mostAlternatives = 200

/** Changes that matter to a subscription with these variables; undefined for a query. */
export function interestsOf({ statements: { reads }, variables }: Prepared): readonly Interest[] | undefined {
  if (reads === undefined) return undefined
  const known: Alternatives[] = []
  const interests: Interest[] = []
  for (const { any, own, demand, from } of reads) {
    const led = from === null ? anyValues : through(known[from.read] ?? anyValues, from.pairs)
    const alternatives = both(valuesOf(demand, variables), led)
    known.push(alternatives)
    for (const relation of any) interests.push({ relation, pins: [] })
    if (own !== null) for (const pins of alternatives) interests.push({ relation: own, pins: sorted(pins) })
  }
  return distinct(interests)
}

/** The known values of rows at the end of a join. */
const through = (alternatives: Alternatives, pairs: NonNullable<WatchedRead['from']>['pairs']): Alternatives =>
  alternatives.map((pins) =>
    pairs.flatMap(({ there, here }) =>
      pins.filter(({ column }) => column === there).map(({ value }) => ({ column: here, value })),
    ),
  )

function valuesOf(demand: Demand | null, variables: BoundVariables): Alternatives {
  if (demand === null) return anyValues
  switch (demand.kind) {
    case 'all':
      return demand.of.map((one) => valuesOf(one, variables)).reduce(both, anyValues)
    case 'any': {
      const all = demand.of.flatMap((one) => valuesOf(one, variables))
      return all.length > mostAlternatives ? anyValues : all
    }
    case 'equal': {
      const { column, form, value, each } = demand
      const given = each ? bindEach(value, variables) : [bindValue(value, variables)]
      // A comparison with null is never true.
      const texts = given.filter((text) => text !== null).map((text) => written[form](text))
      if (texts.length === 0 || texts.length > mostAlternatives) return anyValues
      return texts.every((text) => text !== null) ? texts.map((text) => [{ column, value: text }]) : anyValues
    }
  }
}

/** Rows have the values of both. If the combinations are too many, one side is sufficient. */
function both(left: Alternatives, right: Alternatives): Alternatives {
  if (left.length * right.length > mostAlternatives) return left.length < right.length ? left : right
  return left.flatMap((some) => right.map((others) => [...some, ...others]))
}

const textMatching =
  (pattern: RegExp, write: (text: string) => string) =>
  (text: string): string | null =>
    pattern.test(text) ? write(text) : null

/** A value as Postgres prints it; null: the printed form is unknown. */
const written: Readonly<Record<PinForm, (text: string) => string | null>> = {
  integer: textMatching(/^-?\d{1,30}$/, (text) => String(BigInt(text))),
  uuid: textMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, (text) => text.toLowerCase()),
  boolean: textMatching(/^(true|false)$/, (text) => text.slice(0, 1)),
  date: textMatching(/^\d{4}-\d{2}-\d{2}$/, (text) => text),
  text: (text) => text,
}

const sorted = (pins: readonly Pin[]): readonly Pin[] => {
  const byText = new Map(pins.map((pin) => [JSON.stringify([pin.column, pin.value]), pin]))
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pin]) => pin)
}

const keyed = ({ schema, name }: LiveRelation): string => objectId(schema, name)

/** Without duplicates, and without relations of which all changes matter anyway. */
function distinct(interests: readonly Interest[]): readonly Interest[] {
  const whole = new Set(interests.filter(({ pins }) => pins.length === 0).map(({ relation }) => keyed(relation)))
  const kept = interests.filter(({ relation, pins }) => pins.length === 0 || !whole.has(keyed(relation)))
  return [...new Map(kept.map((interest) => [JSON.stringify(interest), interest])).values()]
}
