import { objectFrom } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import { applied, sql, written, type Pair, type Select, type Sql } from '../../sql/tree.ts'
import type { ComputedCall, Row, RowMember } from '../plan/types.ts'
import { collectionObject } from './collection.ts'
import { calledComposite, compositeObject } from './composite.ts'
import {
  belongs,
  columnOf,
  computedOf,
  directScope,
  passArguments,
  relationOf,
  type Scope,
  type WriteRow,
  type Writer,
} from './source.ts'

/** The selected fields of the row in scope as an object. */
export const rowObject: WriteRow = (writer, row, scope, object) => object(rowPairs(writer, row, scope))

/** The one row that there is of these. */
type OneRow = Pick<Select, 'where' | 'limit'> & { readonly of: Sql }

/** The selected fields of one row; null when there is none. */
export function rowFrom(writer: Writer, row: Row, rows: (scope: Scope) => OneRow): Sql {
  const alias = writer.alias('t')
  writer.note(alias, row)
  const scope = directScope(writer, row.entity, alias)
  const { of, ...which } = rows(scope)
  return objectFrom(rowPairs(writer, row, scope), { from: [{ of, alias }], ...which })
}

/** Where there may be several rows; a limit that takes out nothing costs a step of the plan. */
export const firstOf = ({ unique }: { readonly unique: boolean }): Pick<Select, 'limit'> => (unique ? {} : { limit: 1 })

function rowPairs(writer: Writer, row: Row, scope: Scope): readonly Pair[] {
  return row.members.map((member) => [member.key, memberValue(writer, member, scope)])
}

function memberValue(writer: Writer, member: RowMember, scope: Scope): Sql {
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'node-id': {
      const key = scope.entity.key.map((name) => scope.column(name))
      return written(scope.builder.nodeId, key)
    }
    case 'column':
      return applied(columnOf(scope.builder, member.column).json, scope.column(member.column))
    case 'composite': {
      const { attributes } = columnOf(scope.builder, member.column)
      return compositeObject(attributes, member.members, scope.column(member.column))
    }
    case 'one':
      return rowFrom(writer, member.row, (target) => ({
        of: relationOf(target.builder),
        where: [belongs(member.join, scope, target)],
        ...firstOf(member),
      }))
    case 'many':
      return collectionObject(writer, member.collection, {
        of: relationOf(writer.engine.entity(member.collection.entity.id)),
        isFunction: false,
        volatile: false,
        condition: (target) => belongs(member.join, scope, target),
      })
    case 'computed-value':
      return applied(computedOf(scope, member.function).json, computedCall(scope, member))
    case 'computed-composite': {
      const { attributes } = computedOf(scope, member.function)
      const alias = writer.alias('t')
      writer.note(alias, member)
      return calledComposite(attributes, member.members, computedCall(scope, member), alias)
    }
    case 'computed-void':
      return voidResult(computedCall(scope, member))
    case 'computed-row':
      return rowFrom(writer, member.row, (target) => ({ of: computedCall(scope, member), where: [isPresent(target)] }))
    case 'computed-set':
      return collectionObject(writer, member.collection, {
        of: computedCall(scope, member),
        isFunction: true,
        volatile: member.volatile,
        condition: null,
      })
  }
}

function computedCall(scope: Scope, { function: id, args = [] }: ComputedCall): Sql {
  const { of, args: passes = {} } = computedOf(scope, id)
  const passed = passArguments(id, passes, args)
  return written(([row = '', ...others]) => of(row, others), [scope.row(), ...passed])
}

/** A function's row that is null, or null in every column, is no row (spec/graphql.md 9.3). */
export const isPresent = (scope: Scope): Sql => sql`not (${scope.row()} is null)`

/** Runs a function that returns nothing; its answer is null. Both arms are needed for it to run at all. */
export const voidResult = (call: Sql): Sql => sql`case when ${call}::text is null then null::json else null::json end`
