import { formOf } from '../../runtime/contract/facts.ts'
import type { ColumnFacts, ValueType } from '../../runtime/contract/manifest.ts'
import type { ConditionFacts, FilterConstant } from '../../runtime/contract/stated.ts'
import type { ScalarName } from '../../runtime/contract/scalar-names.ts'
import type { Form } from '../../runtime/sql/form.ts'
import { enumOperators, listOperators, type OperatorName } from '../../runtime/sql/operators.ts'
import { scalarTable } from '../../runtime/sql/scalars.ts'
import type { AnnotatedColumn, AnnotatedRelation } from '../comments/annotated.ts'
import { baseType, type ValueScope } from './scalars.ts'

/** Whether rows of the relation can be selected by a condition of a comment. */
export const isCondition =
  (relation: AnnotatedRelation, columns: readonly ColumnFacts[], scope: ValueScope) =>
  (condition: ConditionFacts): boolean => {
    const facts = columns.find(({ column }) => column === condition.column)
    const column = relation.columns.find(({ name }) => name === condition.column)
    return facts !== undefined && column !== undefined && fits(scope, relation.schema, facts, column, condition)
  }

function fits(
  scope: ValueScope,
  schema: string,
  { filter, type }: ColumnFacts,
  column: AnnotatedColumn,
  { operator, value }: ConditionFacts,
): boolean {
  if (!filter || type === null || !operatorsOf(type, scope.schemas.get(schema)?.forms).includes(operator)) return false
  if (operator === 'is') return true
  if (type.list || type.kind === 'composite') return false
  const values = typeof value === 'object' ? value : [value]
  if (type.kind === 'enum') {
    const labels = scope.enums.get(type.id)?.facts.values.map(({ label }) => label) ?? []
    return values.every((item) => typeof item === 'string' && labels.includes(item))
  }
  const [scalar, isValue] = constants[baseType(scope, column.type)?.name ?? ''] ?? []
  return scalar === type.name && values.every((item) => isValue?.(item) === true)
}

/** Those of the column's filter, for a role that sees its type. */
function operatorsOf(type: ValueType, forms: ReadonlyMap<string, Form> | undefined): readonly OperatorName[] {
  if (type.list) return listOperators
  if (type.kind === 'enum') return enumOperators
  if (type.kind === 'composite') return []
  if (type.name === 'GeoJSON') return ['is']
  return forms?.get(formOf(type) ?? '')?.usual ?? scalarTable[type.name].operators
}

type IsValue = (value: FilterConstant) => boolean

const isIntegerOf =
  (bits: bigint): IsValue =>
  (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && -(2n ** bits) <= value && value < 2n ** bits

const digits = /^-?\d{1,19}$/
/** Numbers beyond a double are written as texts in comments, as in a document. */
const long: IsValue = (value) =>
  typeof value === 'string'
    ? digits.test(value) && BigInt.asIntN(64, BigInt(value)) === BigInt(value)
    : typeof value === 'number' && Number.isSafeInteger(value)

const isText: IsValue = (value) => typeof value === 'string' && !value.includes('\0')

/** By Postgres type: its scalar, and whether it can hold a value. */
const constants: Readonly<Record<string, readonly [scalar: ScalarName, isValue: IsValue]>> = {
  int2: ['Int', isIntegerOf(15n)],
  int4: ['Int', isIntegerOf(31n)],
  int8: ['BigInt', long],
  float4: ['Float', (value) => typeof value === 'number' && Number.isFinite(Math.fround(value)) && isNormal(value)],
  float8: ['Float', (value) => typeof value === 'number'],
  bool: ['Boolean', (value) => typeof value === 'boolean'],
  text: ['String', isText],
  varchar: ['String', isText],
  bpchar: ['String', isText],
  citext: ['String', isText],
}

/** Postgres refuses a number that float4 would round to zero. */
const isNormal = (value: number): boolean => value === 0 || Math.fround(value) !== 0
