/** Types of the generated SQL builders: functions from SQL text to SQL text. */

export type Expression = string

export interface ColumnBuilder {
  readonly of: (row: Expression) => Expression
  readonly json: (value: Expression) => Expression
  readonly cursor: (value: Expression) => Expression
  readonly operand: (parameter: Expression) => Expression
  readonly operands: (parameter: Expression) => Expression
  readonly notNull: boolean
  readonly recordType: string
  readonly fromRecord: (value: Expression) => Expression
}

export interface ComputedBuilder {
  readonly of: (row: Expression) => Expression
  readonly json: (value: Expression) => Expression
}

export interface EntityBuilder<Column extends string, Computed extends string> {
  readonly relation: string
  readonly columns: Readonly<Record<Column, ColumnBuilder>>
  readonly nodeId: (key: readonly Expression[]) => Expression
  readonly computed: Readonly<Record<Computed, ComputedBuilder>>
}

export interface CallBuilder<Argument extends string> {
  readonly name: string
  readonly args: Readonly<Record<Argument, (parameter: Expression) => Expression>>
  readonly json: (value: Expression) => Expression
}
