import { argumentNameOf, isName } from './names.ts'
import {
  keyOf,
  tableNamed,
  type ColumnType,
  type FunctionSketch,
  type Role,
  type TableSketch,
  type Value,
  type World,
} from './world.ts'
import { compareValues } from './types.ts'
import type { Row } from './store.ts'

/** Functions as fields (spec/graphql.md 9). */

export interface ArgumentSketch {
  /** In GraphQL. */
  readonly name: string
  readonly type: ColumnType
  readonly required: boolean
}

export const isComputed = ({ body }: FunctionSketch): boolean =>
  ['computed', 'computedSum', 'computedCount', 'computedRow', 'computedRows'].includes(body.kind)

/**
 * Functions of one name are hidden (spec/graphql.md 9.1), unless comments rename them and that addition is on
 * (spec/graphql.md 17).
 */
export const isHiddenOverload = (world: World, fn: FunctionSketch): boolean =>
  world.functions.some((other) => other !== fn && other.name === fn.name) &&
  (world.functionShapes !== true || fn.field === null)

export const isExecutable = ({ execute }: FunctionSketch, role: Role): boolean => execute === null || execute === role

const int: ColumnType = { base: 'int4', list: false, enum: null }
const reserved: ReadonlySet<string> = new Set(['first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy'])

const isReserved = (world: World, table: string, name: string): boolean =>
  reserved.has(name) || (name === 'deleted' && tableNamed(world, table).softDelete !== undefined)

/**
 * Enums, domains over them included, are arguments and results of functions with function shapes only
 * (spec/graphql.md 9.1, 17).
 */
const isEnum = ({ base }: ColumnType): boolean => base === 'enum'

/**
 * The arguments of a root function; null if one has no usable name, or one of collections (spec/graphql.md 2.5), or an
 * unsupported type.
 */
export function argumentsOf(world: World, { body }: FunctionSketch): readonly ArgumentSketch[] | null {
  // An unnamed one is called by position, including a leading row.
  const before = body.kind === 'computedSum' || body.kind === 'computedRows' ? 2 : 1
  const found = listArguments(world, body).map((argument, index) => ({
    ...argument,
    name: argumentNameOf(argument.name || `arg${index + before}`, world.inflects),
  }))
  const isHidden = found.some(
    ({ name, type }) =>
      !isName(name) ||
      (body.kind === 'rows' && isReserved(world, body.table, name)) ||
      (body.kind === 'computedRows' && isReserved(world, body.target, name)) ||
      (isEnum(type) && world.functionShapes !== true),
  )
  return isHidden ? null : found
}

function listArguments(world: World, body: FunctionSketch['body']): readonly ArgumentSketch[] {
  switch (body.kind) {
    case 'sum':
      return [
        { name: body.a, type: int, required: true },
        { name: body.b, type: int, required: body.fallback === null },
      ]
    case 'echo':
      return [{ name: body.argument, type: body.type, required: body.fallback === undefined }]
    case 'computedSum':
    case 'void':
      return [{ name: body.argument, type: int, required: true }]
    case 'rows':
      return body.argument === null ? [] : [{ name: body.argument, type: int, required: true }]
    case 'row': {
      const column = tableNamed(world, body.table).columns.find((item) => item.name === body.column)
      return column === undefined ? [] : [{ name: body.argument, type: column.type, required: true }]
    }
    case 'computedRow':
    case 'computedRows':
      return body.argument === undefined ? [] : [{ name: body.argument, type: int, required: true }]
    case 'computed':
    case 'computedCount':
      return []
  }
}

/** The rows of a table whose column equals a value, in the order of the key. */
export function rowsWith(
  world: World,
  table: TableSketch,
  column: string,
  value: Value,
  rows: readonly Row[],
): readonly Row[] {
  const type = table.columns.find((item) => item.name === column)?.type ?? int
  const key = keyOf(table)
  const byKey = (a: Row, b: Row): number => {
    for (const { name, type: keyType } of key) {
      const order = compareValues(world, keyType, a.get(name) ?? null, b.get(name) ?? null)
      if (order !== 0) return order
    }
    return 0
  }
  const isSame = (other: Value): boolean =>
    value !== null && other !== null && compareValues(world, type, value, other) === 0
  return rows.filter((row) => isSame(row.get(column) ?? null)).sort(byKey)
}
