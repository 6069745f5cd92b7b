import { objectFrom, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type { ComputedCall, Row, RowMember } from '../plan/types.ts'
import { collectionObject } from './collection.ts'
import { calledComposite, compositeObject } from './composite.ts'
import {
  columnOf,
  computedOf,
  directScope,
  joined,
  passArguments,
  type Scope,
  type WriteRow,
  type Writer,
} from './source.ts'

/** The selected fields of the row in scope as an object. */
export const rowObject: WriteRow = (writer, row, scope, object) => object(rowPairs(writer, row, scope))

/** The selected fields of the one row that FROM yields; null when it yields none. */
export function rowFrom(writer: Writer, row: Row, from: (scope: Scope, alias: string) => string): string {
  const alias = writer.alias('t')
  writer.note(alias, row)
  const scope = directScope(writer, row.entity, alias)
  return objectFrom(rowPairs(writer, row, scope), from(scope, alias))
}

/** Where there may be several rows; a limit that takes out nothing costs a step of the plan. */
export const firstOf = ({ unique }: { readonly unique: boolean }): string => (unique ? '' : ' limit 1')

function rowPairs(writer: Writer, row: Row, scope: Scope): readonly Pair[] {
  return row.members.map((member) => [member.key, memberValue(writer, member, scope)])
}

function memberValue(writer: Writer, member: RowMember, scope: Scope): string {
  switch (member.kind) {
    case 'typename':
      return `${literal(member.name)}::text`
    case 'node-id':
      return scope.builder.nodeId(scope.entity.key.map((name) => scope.column(name)))
    case 'column':
      return columnOf(scope.builder, member.column).json(scope.column(member.column))
    case 'composite': {
      const { attributes } = columnOf(scope.builder, member.column)
      return compositeObject(attributes, member.members, scope.column(member.column))
    }
    case 'one':
      return rowFrom(writer, member.row, (target, alias) => {
        return `${target.builder.relation} ${alias} where ${joined(member.join, scope, target)}${firstOf(member)}`
      })
    case 'many': {
      const { relation } = writer.engine.entity(member.collection.entity.id)
      const condition = (target: Scope): string => joined(member.join, scope, target)
      return collectionObject(writer, member.collection, {
        from: () => relation,
        isFunction: false,
        volatile: false,
        condition,
      })
    }
    case 'computed-value': {
      return computedOf(scope, member.function).json(computedCall(writer, scope, member))
    }
    case 'computed-composite': {
      const { attributes } = computedOf(scope, member.function)
      const call = computedCall(writer, scope, member)
      const alias = writer.alias('t')
      writer.note(alias, member)
      return calledComposite(attributes, member.members, call, alias)
    }
    case 'computed-void':
      return voidResult(computedCall(writer, scope, member))
    case 'computed-row': {
      const call = computedCall(writer, scope, member)
      return rowFrom(writer, member.row, (target, alias) => `${call} ${alias} where ${isPresent(target)}`)
    }
    case 'computed-set': {
      const from = (): string => computedCall(writer, scope, member)
      return collectionObject(writer, member.collection, {
        from,
        isFunction: true,
        volatile: member.volatile,
        condition: null,
      })
    }
  }
}

function computedCall(writer: Writer, scope: Scope, { function: id, args = [] }: ComputedCall): string {
  const { of, args: passes = {} } = computedOf(scope, id)
  return of(scope.row(), passArguments(writer, id, passes, args))
}

/** A function's row that is null, or null in every column, is no row (spec/graphql.md 9.3). */
export const isPresent = (scope: Scope): string => `not (${scope.row()} is null)`

/** Runs a function that returns nothing; its answer is null. Both arms are needed for it to run at all. */
export const voidResult = (call: string): string =>
  `case when ${call}::text is null then null::json else null::json end`
