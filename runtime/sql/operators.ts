/**
 * The filter operators (spec/graphql.md 4.1): their operands and their SQL. The operators of each scalar are in
 * scalars.ts; the reference interpreter implements them separately, and a test requires each.
 */

/**
 * The elements of an operand that Postgres compares with each one of the value's, or with each other, without looking for a
 * cancellation: items of a list, members of JSON, or words of a text. Their number has a bound (spec/graphql.md 4.1).
 */
export type CountedElements = 'items' | 'json' | 'words'

export interface Operator {
  /**
   * `value`: one operand of the column's type; `values`: a list; `pattern`: a text, unless the type has operators of its own;
   * `presence`: NULL or NOT_NULL.
   */
  readonly operand: 'value' | 'values' | 'pattern' | 'presence'
  readonly help: string
  /** Its operand is compared element by element. */
  readonly counted?: CountedElements
  /**
   * SQL condition from the column and the operand, both complete expressions.
   *
   * @param own the type's own operator for a symbol, if it is not on the search path
   */
  readonly render: (column: string, operand: string, own: OwnOperator) => string
}

type Symbol = '<' | '<=' | '=' | '>=' | '>'
type PatternSymbol = '~~' | '~~*' | '~' | '~*'
/** The type's operator for a symbol; undefined: that on the search path. */
type OwnOperator = (symbol: Symbol | PatternSymbol) => string | undefined

/** @param order the operators of a type, if they are not those on the search path */
export const ownOperators =
  (order: Readonly<Partial<Record<Symbol | PatternSymbol, string>>> | undefined): OwnOperator =>
  (symbol) =>
    order?.[symbol]

const comparing =
  (symbol: Symbol) =>
  (column: string, operand: string, own: OwnOperator): string =>
    `${column} ${own(symbol) ?? symbol} ${operand}`

const infix =
  (symbol: string) =>
  (column: string, operand: string): string =>
    `${column} ${symbol} ${operand}`

/** @param word the spelling if the type has no operator of its own */
const matching =
  (word: string, symbol: PatternSymbol) =>
  (column: string, operand: string, own: OwnOperator): string =>
    `${column} ${own(symbol) ?? word} ${operand}`

/** No operator class has an operator for it. */
const different = (column: string, operand: string, own: OwnOperator): string =>
  own('=') === undefined ? `${column} <> ${operand}` : `not ${column} ${own('=')} ${operand}`

export const operators = {
  eq: { operand: 'value', help: 'Equal to this value.', render: comparing('=') },
  neq: { operand: 'value', help: 'Different from this value.', render: different },
  lt: { operand: 'value', help: 'Less than this value.', render: comparing('<') },
  lte: { operand: 'value', help: 'Less than or equal to this value.', render: comparing('<=') },
  gt: { operand: 'value', help: 'Greater than this value.', render: comparing('>') },
  gte: { operand: 'value', help: 'Greater than or equal to this value.', render: comparing('>=') },
  in: {
    operand: 'values',
    help: 'Equal to one of these values.',
    render: (column, list, own) => `${column} ${own('=') ?? '='} any (${list})`,
  },
  is: { operand: 'presence', help: 'Null or not null.', render: (column, presence) => `${column} is ${presence}` },
  like: { operand: 'pattern', help: 'Matches this SQL LIKE pattern.', render: matching('like', '~~') },
  ilike: {
    operand: 'pattern',
    help: 'Matches this SQL LIKE pattern, upper and lower case alike.',
    render: matching('ilike', '~~*'),
  },
  startsWith: { operand: 'pattern', help: 'Begins with this text; it holds no wildcards.', render: infix('^@') },
  regex: { operand: 'pattern', help: 'Matches this POSIX regular expression.', render: matching('~', '~') },
  iregex: {
    operand: 'pattern',
    help: 'Matches this POSIX regular expression, upper and lower case alike.',
    render: matching('~*', '~*'),
  },
  contains: { operand: 'value', help: 'Contains every one of these elements.', counted: 'items', render: infix('@>') },
  containedBy: { operand: 'value', help: 'Has no element other than these.', counted: 'items', render: infix('<@') },
  overlaps: { operand: 'value', help: 'Has at least one of these elements.', counted: 'items', render: infix('&&') },
} as const satisfies Record<string, Operator>

export type OperatorName = keyof typeof operators

export const columnOperators = ['eq', 'gt', 'gte', 'lt', 'lte', 'neq'] as const satisfies readonly OperatorName[]

export type ColumnOperatorName = (typeof columnOperators)[number]

export const enumOperators = ['eq', 'in', 'is', 'neq'] as const satisfies readonly OperatorName[]
export const listOperators = [
  'containedBy',
  'contains',
  'eq',
  'is',
  'overlaps',
] as const satisfies readonly OperatorName[]
