import { toJson, type Items, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type { AggregateMember, Collection } from '../plan/types.ts'
import type { Matching } from './matching.ts'
import type { Writer } from './source.ts'

/** Figures over all rows that match, whatever the page (spec/graphql.md 6). */
export interface TotalsSql {
  readonly from: string
  readonly alias: string
  /** What holds a figure: `sum` of `price` -> `u3.f[1]`. */
  readonly figure: (name: string, column: string) => string
}

export function writeTotals(writer: Writer, collection: Collection, matching: Matching): TotalsSql {
  const alias = writer.alias('u')
  writer.note(alias, collection)
  const { scope, from } = matching.read(writer.alias('t'), null, 'counted')
  const figures = new Map<string, string>()
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
  // One array: four figures of each column of a wide table are more than a select list may hold.
  const list = figures.size === 0 ? '' : `, array[${[...figures.values()].map(toJson).join(', ')}] as f`
  return {
    from: `(select count(*) as n${list} from ${from()}) ${alias}`,
    alias,
    figure: (name, column) => `${alias}.f[${places.get(id(name, column))}]`,
  }
}

const aggregateOf = (name: string, value: string): string =>
  name === 'avg' ? `avg(${value}::numeric)` : `${name}(${value})`

/** A member of an aggregate, from figures that are in reach. */
export function aggregateMember(totals: TotalsSql, member: AggregateMember, { object }: Items): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'count':
      return `${totals.alias}.n`
    case 'figures':
      return object(
        member.members.map((part): Pair => [
          part.key,
          part.kind === 'typename' ? `${literal(part.name)}::text` : totals.figure(member.function, part.column),
        ]),
      )
  }
}
