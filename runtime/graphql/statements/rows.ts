import { firstObject, objectFrom } from '../../sql/json.ts'
import { literal, applied, sql, written, type From, type Pair, type Select, type Sql } from '../../sql/tree.ts'
import type { CallBuilder, ComputedBuilder } from '../../contract/builder.ts'
import type { CallResult, ComputedCall, Row, RowMember, ToOne } from '../plan/plan-nodes.ts'
import { collectionObject } from './collection.ts'
import { calledComposite, compositeObject } from './composite.ts'
import {
  columnOf,
  computedOf,
  passArguments,
  readFor,
  relationOf,
  type Part,
  type Scope,
  type WriteRow,
  type Writer,
} from './source.ts'
import { wayTo } from './tenants.ts'

export const rowObject: WriteRow = (writer, row, scope, object) => object(rowPairs(writer, row, scope))

/** The only row among these, and the facts known once it is found. */
type OneRow = Pick<Select, 'where' | 'limit'> & Pick<From, 'joins'> & { readonly of: Sql; readonly found: Scope }

/** The selected fields of one row; null if it does not exist. */
export function rowFrom(writer: Writer, row: Row, rows: (scope: Scope) => OneRow): Sql {
  const scope = readFor(writer, row.entity, row)
  const { of, joins = [], found, ...which } = rows(scope)
  return objectFrom(rowPairs(writer, row, found), { from: [{ of, alias: scope.alias, joins }], ...which })
}

/** For possibly several rows; a limit without effect still costs a step of the plan. */
export const firstOf = ({ unique }: { readonly unique: boolean }): Pick<Select, 'limit'> =>
  unique ? {} : { limit: sql`1` }

export function rowPairs(writer: Writer, row: Row, scope: Scope): readonly Pair[] {
  return row.members.map((member) => [member.key, memberValue(writer, member, scope)])
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** The value of a member that it plans; null: one of another kind. */
    readonly rowValue?: (member: RowMember, scope: Scope) => Sql | null
  }
}

function addedMember({ engine }: Writer, member: RowMember, scope: Scope): Sql {
  const [value] = engine.additions.list.flatMap((one) => one.rowValue?.(member, scope) ?? [])
  if (value === undefined) throw new Error(`nothing writes the member ${member.key} of a row`)
  return value
}

function memberValue(writer: Writer, member: RowMember, scope: Scope): Sql {
  if (member.kind === 'column') return applied(columnOf(scope.builder, member.column).json, scope.column(member.column))
  if (member.kind === 'typename') return sql`${literal(member.name)}::text`
  if (member.kind === 'node-id') {
    const key = scope.entity.key.map((name) => scope.column(name))
    return written(scope.builder.nodeId, key)
  }
  if (member.kind === 'composite') {
    const { attributes } = columnOf(scope.builder, member.column)
    return compositeObject(attributes, member.members, scope.column(member.column))
  }
  if (member.kind === 'headline') return addedMember(writer, member, scope)
  if (member.kind === 'one') return oneRow(writer, member, scope)
  if (member.kind === 'union') return firstObject(member.of.map((one) => oneRow(writer, one, scope)))
  if (member.kind === 'many')
    return collectionObject(writer, member.collection, {
      of: relationOf(writer.engine.entity(member.collection.entity.id)),
      isFunction: false,
      volatile: false,
      parent: { join: member.join, here: scope },
    })
  const builder = computedOf(scope, member.function)
  return resultValue(writer, member, builder, computedCall(builder, scope, member))
}

/** The row that is related to the one in scope; null if there is none. */
const oneRow = (writer: Writer, one: ToOne, scope: Scope): Sql =>
  rowFrom(writer, one.row, (target) => {
    const { there, joins, on, met } = wayTo(writer, one.join, scope, target, one.row)
    const of = relationOf(target.builder)
    return { of, joins, where: [on, ...met], ...firstOf(one), found: there }
  })

function computedCall({ of, args: passes = {} }: ComputedBuilder, scope: Scope, call: ComputedCall): Sql {
  const passed = passArguments(call.function, passes, call.args ?? [])
  return written(([row = '', ...others]) => of(row, others), [scope.row(), ...passed])
}

/** The selections of a call's result, which is a root or a member of a row. */
export function resultValue(
  writer: Writer,
  part: Part & CallResult<'call' | 'computed'>,
  { json, attributes }: Pick<CallBuilder, 'json' | 'attributes'>,
  call: Sql,
): Sql {
  const rows = (): Sql => rowsOf(writer, call)
  switch (part.kind) {
    case 'call-value':
    case 'computed-value':
      return applied(json, call)
    case 'call-composite':
    case 'computed-composite': {
      const alias = writer.alias('t')
      writer.note(alias, part)
      return calledComposite(attributes, part.members, call, alias)
    }
    case 'call-void':
    case 'computed-void':
      return voidResult(call)
    case 'call-row':
    case 'computed-row':
      return rowFrom(writer, part.row, (target) => ({ of: rows(), where: [isPresent(target)], found: target }))
    case 'call-set':
    case 'computed-set':
      return collectionObject(writer, part.collection, {
        of: rows(),
        isFunction: true,
        volatile: part.volatile,
        parent: null,
      })
  }
}

/**
 * The source of a function's rows. Postgres inlines an SQL function in FROM, and Citus does not plan that: it would
 * read its own empty tables.
 */
function rowsOf({ engine, alias }: Writer, call: Sql): Sql {
  if (engine.manifest.distributed === undefined) return call
  const [row, from] = [alias('f'), alias('f')]
  return sql`(select (${row}).* from (select ${call} as ${row} offset 0) ${from})`
}

/** A function's row that is null, or null in every column, does not count as a row (spec/graphql.md 9.3). */
const isPresent = (scope: Scope): Sql => sql`not (${scope.row()} is null)`

/** Runs a function that returns nothing; its answer is null. Both arms are needed for it to run at all. */
const voidResult = (call: Sql): Sql => sql`case when ${call}::text is null then null::json else null::json end`
