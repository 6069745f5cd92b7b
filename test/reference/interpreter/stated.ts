import { readColumn, type Condition } from './conditions.ts'
import { isEnumName } from './names.ts'
import { toAnswer } from './types.ts'
import type { BaseType, ColumnSketch, ColumnType, ConditionSketch, Json, World } from './world.ts'

/** A condition of a comment on a column; null if it is not filterable (spec/graphql.md 17.5). */
export function readStated(world: World, column: ColumnSketch, condition: ConditionSketch): Condition | null {
  if (!isUsable(world, column.type, condition)) return null
  const { operator, value } = condition
  return readColumn(world, column, { [operator]: written(world, column.type, value) })
}

/** A value in a document: labels of enums under their mapped names. */
const written = (world: World, type: ColumnType, value: Json): Json =>
  type.base !== 'enum' || value === 'NULL' || value === 'NOT_NULL'
    ? value
    : Array.isArray(value)
      ? value.map((label) => toAnswer(world, type, label as string, false))
      : toAnswer(world, type, value as string, false)

const equality = ['eq', 'neq', 'in']
const ordered = [...equality, 'lt', 'lte', 'gt', 'gte']

interface Constants {
  readonly operators: readonly string[]
  readonly holds: (value: Json) => boolean
}

const whole = (least: number, most: number): Constants => ({
  operators: ordered,
  holds: (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
})
const texts: Constants = { operators: ordered, holds: (value) => typeof value === 'string' }
const isLong = (value: Json): boolean =>
  typeof value === 'string'
    ? /^-?[0-9]{1,19}$/.test(value) && BigInt(value) >= -(2n ** 63n) && BigInt(value) < 2n ** 63n
    : Number.isSafeInteger(value)

const constants: Readonly<Partial<Record<BaseType, Constants>>> = {
  int2: whole(-32_768, 32_767),
  int4: whole(-2_147_483_648, 2_147_483_647),
  int8: { operators: ordered, holds: isLong },
  float8: { operators: ordered, holds: (value) => typeof value === 'number' },
  text: texts,
  'varchar(5)': texts,
  bool: { operators: ['eq'], holds: (value) => typeof value === 'boolean' },
}

function isUsable(world: World, type: ColumnType, { operator, value }: ConditionSketch): boolean {
  if (type.base === 'composite') return false
  if (operator === 'is') return value === 'NULL' || value === 'NOT_NULL'
  const labels = world.enums.find(({ name }) => name === type.enum)?.labels ?? []
  const known: Constants | undefined =
    type.base === 'enum'
      ? {
          operators: equality,
          // Introspection shows the default, so each of its values needs a valid name.
          holds: (label) =>
            typeof label === 'string' && labels.includes(label) && isEnumName(String(written(world, type, label))),
        }
      : constants[type.base]
  if (type.list || known === undefined || !known.operators.includes(operator)) return false
  return operator === 'in' ? Array.isArray(value) && value.every(known.holds) : known.holds(value)
}
