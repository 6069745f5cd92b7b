import type { BoundStatement, Cell, OpenStatement } from '../../contract/execution.ts'
import { createLru } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { printOpen } from '../../sql/print.ts'
import { selectList, trusted } from '../../sql/tree.ts'
import type { Running } from './cell.ts'
import { exchangeOf, type Turn } from './turn.ts'

type AnyTurn = Turn<Running>

/**
 * The tenant of a caller, whose rows of a distributed database lie on one server. The value that policies compare with
 * is a function of the claims alone, so the database is asked for it once per caller.
 */
export interface Tenants {
  /** The statements with their tenants' values. Rejects if the database cannot compute these. */
  readonly place: (turn: AnyTurn, bound: readonly BoundStatement[]) => Promise<readonly BoundStatement[]>
}

type Values = ReadonlyMap<string, string | null>

/** In characters of claims and values. */
const keptCharacters = 4_000_000

export const createTenants = (): Tenants => {
  const known = createLru<string, Values>(keptCharacters, (values, subject) =>
    [...values].reduce((sum, [expression, value]) => sum + expression.length + (value?.length ?? 0), subject.length),
  )
  const valuesFor = async (turn: AnyTurn, expressions: readonly string[]): Promise<Values> => {
    const { caller, version } = turn.asker
    // The expression that auth.uid() reads from the claims may change with the version.
    const subject = JSON.stringify([version, caller.claims])
    const before = known.get(subject) ?? new Map<string, string | null>()
    const missing = expressions.filter((expression) => !before.has(expression))
    if (missing.length === 0) return before
    const [row = []] = await turn.run(exchangeOf(turn.asker, true, [asking(missing)]))
    const values = new Map([
      ...before,
      ...missing.map((expression, place) => [expression, textOf(row[place])] as const),
    ])
    known.set(subject, values)
    return values
  }
  return {
    place: async (turn, bound) => {
      if (!hasTenants(bound)) return bound
      const expressions = new Set(bound.flatMap(({ tenants = [] }) => tenants.map(({ expression }) => expression)))
      const values = await valuesFor(turn, [...expressions])
      return bound.map((statement) => placed(statement, values))
    },
  }
}

const hasTenants = (bound: readonly BoundStatement[]): boolean => bound.some(({ tenants }) => tenants !== undefined)

const asking = (expressions: readonly string[]): OpenStatement => {
  const { text } = printOpen(selectList(expressions.map((expression) => ({ value: trusted(expression) }))))
  return { name: `catalograph.tenant.${sha256Hex(text).slice(0, 16)}`, text, values: [], carriesCheck: true }
}

const textOf = (cell: Cell | undefined): string | null => cell?.toString() ?? null

const placed = (statement: BoundStatement, known: Values): BoundStatement => {
  const { tenants = [] } = statement
  const byPlace = new Map(tenants.map(({ at, expression }) => [at, known.get(expression) ?? null]))
  const values = statement.values.map((value, at) => byPlace.get(at) ?? value)
  return { ...statement, values, tenants: undefined }
}
