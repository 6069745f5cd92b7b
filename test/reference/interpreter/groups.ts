import { groupFigure, leastValues, percentile, type GroupFigure } from './aggregate.ts'
import { demandKey, readKeys, type GroupKey } from './group-keys.ts'
import { object } from './objects.ts'
import type { ApiTable } from './api-types.ts'
import { apiTableOf } from './api.ts'
import { surroundingsOf, type Context, type Nodes } from './context.ts'
import { every, negation, readAll, readColumn, some, type Condition } from './conditions.ts'
import { asList, cursorOf, readDirection, readPage, takePage, type Term } from './page.ts'
import type { Surroundings } from './related.ts'
import { Refused } from './refusal.ts'
import { argument } from './selection.ts'
import type { Row, Store } from './store.ts'
import { compareValues, toAnswer } from './types.ts'
import {
  columnOf,
  countOf,
  figureOf,
  isFigure,
  percentilesIn,
  readAt,
  type Figure,
  type RowsOf,
} from './group-figures.ts'
import { recurringMembers } from './times.ts'
import type { Json } from './world.ts'

/** Groups of rows (spec/graphql.md 17.2). A group is a row whose values are those of its key, by their paths. */

type Members = Readonly<Record<string, Json>>

/** The given order, then all keys (spec/graphql.md 17.2). */
export function readGroupOrder(
  around: Surroundings,
  table: ApiTable,
  keys: readonly GroupKey[],
  input: Json | undefined,
  rowsOf: RowsOf,
): readonly Term[] {
  const term = (value: Figure, direction: Json): Term => ({ ...value, ...readDirection(direction) })
  const keyTerm = (key: GroupKey, direction: Json): Term =>
    term({ ...key, id: `key.${key.id}`, valueOf: (group) => group.get(key.id) ?? null }, direction)
  const keyTerms = (given: Json, path: string): readonly Term[] =>
    Object.entries((given ?? {}) as Members).flatMap(([name, asked]) => {
      if (asked === null) return []
      const id = `${path}${name}`
      return typeof asked === 'object' ? keyTerms(asked, `${id}.`) : [keyTerm(demandKey(keys, id), asked)]
    })
  const asked = asList(input).flatMap((item) =>
    Object.entries(item as Members).flatMap(([name, given]): readonly Term[] => {
      if (given === null) return []
      if (name === 'key') return keyTerms(given, '')
      if (recurringMembers.includes(name)) return keyTerms(given, `${name}.`)
      if (name === 'percentile')
        return percentilesIn(table, given, rowsOf).map(([value, direction]) => term(value, direction))
      if (name === 'count') return [term(countOf(rowsOf), given)]
      return Object.entries(given as Members).flatMap(([field, direction]) =>
        direction === null ? [] : [term(figureOf(around, table, name as GroupFigure, field, rowsOf), direction)],
      )
    }),
  )
  return [...asked, ...keys.map((key) => keyTerm(key, 'AscNullsLast'))]
}

function readHaving(around: Surroundings, table: ApiTable, input: Json | undefined, rowsOf: RowsOf): Condition | null {
  if (input === undefined || input === null) return null
  const condition = ({ id, type, valueOf }: Figure, given: Json): Condition | null =>
    readColumn(around.world, { name: id, type }, given, valueOf)
  return every(
    readAll(Object.entries(input as Members), ([name, given]): Condition | null => {
      if (given === null) return null
      if (name === 'count') return condition(countOf(rowsOf), given)
      if (name === 'percentile')
        return every(readAll(percentilesIn(table, given, rowsOf), ([value, asked]) => condition(value, asked)))
      if (name === 'not') return negation(readHaving(around, table, given, rowsOf))
      if (isFigure(table, name))
        return every(
          readAll(Object.entries(given as Members), ([field, asked]) =>
            condition(figureOf(around, table, name, field, rowsOf), asked),
          ),
        )
      const parts = readAll(asList(given), (item) => readHaving(around, table, item, rowsOf))
      return name === 'and' ? every(parts) : some(parts)
    }),
  )
}

export function groupsField(
  context: Context,
  store: Store,
  table: ApiTable,
  matching: readonly Row[],
  nodes: Nodes,
): Json {
  const { world } = context
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const around = surroundingsOf(context, store)
  const keys = readKeys(around, table, arg('by'), arg('timeZone'), arg('widths'))
  const groups = new Map<Row, Row[]>()
  const rowsOf = (group: Row): readonly Row[] => groups.get(group) ?? []
  const order = readGroupOrder(around, table, keys, arg('orderBy'), rowsOf)
  const page = readPage(arg, order.length)
  // Without groups Postgres computes no key, which might be refused; a cursor without elements excludes all.
  if (page.first === 0 || page.after?.length === 0) return []
  for (const row of matching) {
    const group = keyOf(context, keys, row, page.after !== null)
    if (group === null) continue
    const known = [...groups.keys()].find((other) =>
      keys.every(({ id, type }) => {
        const [a, b] = [group.get(id) ?? null, other.get(id) ?? null]
        return a === null || b === null ? a === b : compareValues(world, type, a, b) === 0
      }),
    )
    if (known === undefined) groups.set(group, [row])
    else groups.get(known)?.push(row)
  }
  const having = readHaving(around, table, arg('having'), rowsOf)
  const chosen = [...groups.keys()].filter((group) => having === null || having(group) === true)
  return takePage(world, table, order, page, chosen).rows.map((group) =>
    object(context, `${table.type}Grouped`, nodes, (name, inner) => {
      if (name === 'key') return keyObject(context, table, keys, 'GroupKey', '', group, inner)
      if (recurringMembers.includes(name))
        return keyObject(context, table, keys, recurringPart(name), `${name}.`, group, inner)
      if (name === 'count') return rowsOf(group).length
      if (name === 'cursor') return cursorOf(world, order, group)
      if (name === 'percentile') {
        const at = readAt(argument(context.scope, inner[0], 'at'))
        return object(context, `${table.type}PercentileResult`, inner, (field) =>
          percentile(at, columnOf(table, 'sum', field), rowsOf(group)),
        )
      }
      if (name === 'values') {
        const atMost = Math.min(readAtMost(argument(context.scope, inner[0], 'atMost')), table.maxRows)
        return object(context, `${table.type}ValuesResult`, inner, (field) => {
          const column = columnOf(table, 'countDistinct', field)
          return leastValues(world, column, rowsOf(group), atMost).map((value) =>
            toAnswer(world, column.type, value, false),
          )
        })
      }
      return object(context, `${table.type}${resultOf(name as GroupFigure)}`, inner, (field) =>
        groupFigure(world, name as GroupFigure, columnOf(table, name as GroupFigure, field), rowsOf(group)),
      )
    }),
  )
}

/**
 * The key of a row. After a cursor Postgres may exclude a row by one part of its key before it computes another, which
 * would be refused: then it is null, and the refusal is possible.
 */
function keyOf({ meanwhile }: Context, keys: readonly GroupKey[], row: Row, isAfter: boolean): Row | null {
  try {
    return new Map(keys.map((key) => [key.id, key.valueOf(row)]))
  } catch (error) {
    if (!isAfter || !(error instanceof Refused)) throw error
    for (const reason of error.reasons) meanwhile.add(reason)
    return null
  }
}

function readAtMost(input: Json | undefined): number {
  const atMost = Number(input)
  if (atMost < 0) throw new Refused('`atMost` must be an unsigned integer')
  return atMost
}

const resultOf = (name: GroupFigure): string => {
  if (name === 'countDistinct') return 'CountDistinctResult'
  if (name === 'every' || name === 'some') return 'FlagResult'
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}AggregateResult`
}

const recurringPart = (member: string): string => `Group${member.charAt(0).toUpperCase()}${member.slice(1)}`

function keyObject(
  context: Context,
  table: ApiTable,
  keys: readonly GroupKey[],
  part: string,
  path: string,
  group: Row | null,
  nodes: Nodes,
): Json {
  return object(context, `${table.type}${part}`, nodes, (name, inner) => {
    const id = `${path}${name}`
    if (table.orders.has(name)) {
      const { type } = demandKey(keys, id)
      const value = group?.get(id) ?? null
      return part === 'GroupKey' ? toAnswer(context.world, type, value, false) : value === null ? null : Number(value)
    }
    const relation = table.groupRelations.get(name)
    if (relation === undefined) throw new Error(`${table.type} cannot be grouped by ${name}`)
    return keyObject(context, apiTableOf(context.api, relation.target), keys, part, `${id}.`, group, inner)
  })
}

/** Everything that may be refused without rows (spec/graphql.md 17.2). */
export function checksOfGroups(context: Context, table: ApiTable, nodes: Nodes): readonly (() => unknown)[] {
  const arg = (name: string): Json | undefined => argument(context.scope, nodes[0], name)
  const around = surroundingsOf(context, null)
  const keys = (): readonly GroupKey[] => readKeys(around, table, arg('by'), arg('timeZone'), arg('widths'))
  const none: RowsOf = () => []
  return [
    () => readPage(arg, readGroupOrder(around, table, keys(), arg('orderBy'), none).length),
    () => readHaving(around, table, arg('having'), none),
    () =>
      object(context, `${table.type}Grouped`, nodes, (name, inner) =>
        name === 'percentile'
          ? readAt(argument(context.scope, inner[0], 'at'))
          : name === 'values'
            ? readAtMost(argument(context.scope, inner[0], 'atMost'))
            : name === 'key'
              ? keyObject(context, table, keys(), 'GroupKey', '', null, inner)
              : recurringMembers.includes(name)
                ? keyObject(context, table, keys(), recurringPart(name), `${name}.`, null, inner)
                : null,
      ),
  ]
}
