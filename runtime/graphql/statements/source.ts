import type { CallBuilder, Comparisons, ComputedBuilder, EntityBuilder } from '../../contract/builder.ts'
import type { EntityFacts, ObjectId } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Pair } from '../../sql/json.ts'
import type { Argument, Collection, Join, OrderKey, Root, Row, RowMember } from '../plan/types.ts'
import { longestOf } from './cursor.ts'
import type { Parameters } from './parameters.ts'

/** What every part of a statement is written with. */
export interface Writer {
  readonly engine: Pick<Engine, 'entity' | 'call'>
  readonly parameters: Parameters
  /** A fresh alias: `t1`, `p2`, ... */
  readonly alias: (letter: string) => string
  /** Told which part of the plan stands under an alias. */
  readonly note: Note
  /** Writes a row as an object; here because rows hold collections and collections hold rows. */
  readonly row: WriteRow
}

/** What of a plan reads relations or calls what may do so. */
export type Part = Row | Collection | Root | RowMember

export type Note = (alias: string, part: Part) => void

/** `object` makes an object of the row's members. */
export type WriteRow = (writer: Writer, row: Row, scope: Scope, object: (pairs: readonly Pair[]) => string) => string

export function createWriter(engine: Writer['engine'], parameters: Parameters, row: WriteRow, note: Note): Writer {
  let count = 0
  return { engine, parameters, alias: (letter) => `${letter}${(count += 1)}`, note, row }
}

/** A row in reach: how its columns are written at this place of the statement. */
export interface Scope {
  readonly entity: EntityFacts
  readonly builder: EntityBuilder
  /** What the row is called in FROM. */
  readonly alias: string
  /** The value of a column, by SQL name. */
  readonly column: (name: string) => string
  /** What rows are sorted by; of related rows only where they were joined (related.ts). */
  readonly ordered: (key: OrderKey) => Ordered
  /** The whole row as a value of its composite type. */
  readonly row: () => string
}

/** An element of an order at this place of the statement. */
export interface Ordered {
  readonly value: string
  readonly notNull: boolean
  /** An order as an array, and what is carried for it, may be an array itself; those travel as jsonb. */
  readonly isArray: boolean
  /** What compares values; absent: what the search path says. */
  readonly comparisons?: Comparisons
  readonly operand: (parameter: string) => string
  readonly cursor: (value: string) => string
  /** See CursorElement. */
  readonly longest: number
}

/** The row of a table, function or CTE that stands in FROM under this alias. */
export function directScope(writer: Writer, entity: EntityFacts, alias: string): Scope {
  const builder = writer.engine.entity(entity.id)
  return {
    entity,
    builder,
    alias,
    column: (name) => columnOf(builder, name).of(alias),
    ordered: (key) => {
      if (typeof key !== 'string') throw new Error(`the rows related to ${builder.relation} were not joined`)
      const { of, notNull, order, recordType, operand, cursor } = columnOf(builder, key)
      const longest = longestOf(entity.columns.find(({ column }) => column === key)?.type)
      return {
        value: of(alias),
        notNull,
        isArray: recordType.endsWith('[]'),
        operand,
        cursor,
        longest,
        ...(order && { comparisons: order }),
      }
    },
    row: () => `(${alias}.*)::${builder.relation}`,
  }
}

/** The row of a relation that is read for this part of the plan, under a fresh alias. */
export function readFor(writer: Writer, entity: EntityFacts, part: Part): Scope {
  const scope = directScope(writer, entity, writer.alias('t'))
  writer.note(scope.alias, part)
  return scope
}

/** The columns that an outer level asked an inner one for, under short names: `t1."created_at" as c2`. */
export interface Carried {
  readonly scope: Scope
  /** The select list of the inner level; to be asked for once the outer level is written. */
  readonly list: () => readonly string[]
}

/** The row of an inner level seen through the alias of its sub-select; what is used is carried up, and nothing else. */
export function carriedScope(inner: Scope, alias: string): Carried {
  const names = new Map<string, string>()
  const carry = (expression: string, short: string): string => {
    names.set(expression, names.get(expression) ?? short)
    return `${alias}.${names.get(expression)}`
  }
  return {
    scope: {
      entity: inner.entity,
      builder: inner.builder,
      alias,
      column: (name) => carry(inner.column(name), `c${names.size + 1}`),
      ordered: (key) => {
        const element = inner.ordered(key)
        return { ...element, value: carry(element.value, `c${names.size + 1}`) }
      },
      row: () => carry(inner.row(), 'r'),
    },
    list: () => [...names].map(([expression, short]) => `${expression} as ${short}`),
  }
}

export function columnOf(builder: EntityBuilder, name: string): EntityBuilder['columns'][string] {
  const column = Object.hasOwn(builder.columns, name) ? builder.columns[name] : undefined
  if (column === undefined) throw new Error(`the builder of ${builder.relation} has no column ${name}`)
  return column
}

export function computedOf(scope: Scope, id: ObjectId): ComputedBuilder {
  const computed = Object.hasOwn(scope.builder.computed, id) ? scope.builder.computed[id] : undefined
  if (computed === undefined) throw new Error(`the builder of ${scope.builder.relation} has no computed field ${id}`)
  return computed
}

/** The arguments of a call as they are passed. */
export function passArguments(
  writer: Writer,
  id: ObjectId,
  passes: CallBuilder['args'],
  args: readonly Argument[],
): readonly string[] {
  return args.map((argument) => {
    const pass = Object.hasOwn(passes, argument.field) ? passes[argument.field] : undefined
    if (pass === undefined) throw new Error(`the builder of ${id} has no argument ${argument.field}`)
    return pass(writer.parameters.add(argument.value))
  })
}

/** The condition that two rows belong together. */
export function joined(join: Join, here: Scope, there: Scope): string {
  return join.local
    .map((name, index) => `${there.column(join.foreign[index] ?? '')} = ${here.column(name)}`)
    .join(' and ')
}

/** A select list that is never empty. */
export const selectList = (expressions: readonly string[]): string =>
  expressions.length === 0 ? '1' : expressions.join(', ')

/** `where` with these conditions, or nothing. */
export const where = (conditions: readonly (string | null)[]): string => {
  const given = conditions.filter((condition) => condition !== null)
  return given.length === 0 ? '' : ` where ${given.join(' and ')}`
}
