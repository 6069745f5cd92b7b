import { bare } from '../../sql/ident.ts'
import { toJson, type MakeObject } from '../../sql/json.ts'
import {
  literal,
  joined,
  select,
  sql,
  trusted,
  type Column,
  type From,
  type Ident,
  type Pair,
  type Sql,
} from '../../sql/tree.ts'
import type { AggregateMember, Collection, FigureName } from '../plan/plan-nodes.ts'
import type { Matching } from './matching.ts'
import type { Writer } from './source.ts'

/** Aggregates over all matching rows, independent of the page (spec/graphql.md 6). */
export interface TotalsSql {
  readonly from: From
  readonly alias: Ident
  /** The expression of a figure: `sum` of `price` -> `u3.f[1]`. */
  readonly figure: (name: string, column: string) => Sql
}

export function writeTotals(writer: Writer, collection: Collection, matching: Matching): TotalsSql {
  const alias = writer.alias('u')
  writer.note(alias, collection)
  const { scope, ...rows } = matching.read(writer.alias('t'), null, [])
  const figures = new Map<string, Sql>()
  const id = (name: string, column: string): string => `${name}(${column})`
  for (const member of collection.members) {
    for (const part of member.kind === 'aggregate' ? member.members : []) {
      if (part.kind !== 'figures') continue
      for (const figure of part.members) {
        if (figure.kind === 'figure')
          figures.set(id(part.function, figure.column), aggregateOf(part.function, scope.column(figure.column)))
      }
    }
  }
  const places = new Map([...figures.keys()].map((key, index) => [key, index + 1]))
  // One array: four figures of each column of a wide table exceed the maximum of a select list.
  const list = sql`array[${joined([...figures.values()].map(toJson), ', ')}]`
  const all: readonly Column[] = figures.size === 0 ? [] : [{ value: list, as: bare('f') }]
  return {
    from: { of: select([{ value: sql`count(*)`, as: bare('n') }, ...all], rows), alias },
    alias,
    figure: (name, column) => sql`${alias}.f[${places.get(id(name, column)) ?? 0}]`,
  }
}

export const aggregateOf = (name: FigureName, value: Sql): Sql =>
  name === 'avg' ? sql`avg(${value}::numeric)` : sql`${trusted(name)}(${value})`

export function aggregateMember(totals: TotalsSql, member: AggregateMember, object: MakeObject): Sql {
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'count':
      return sql`${totals.alias}.n`
    case 'figures':
      return object(
        member.members.map((part): Pair => [
          part.key,
          part.kind === 'typename' ? sql`${literal(part.name)}::text` : totals.figure(member.function, part.column),
        ]),
      )
  }
}
