/**
 * SQL as a value. Statements are trees of these nodes, which do not depend on their context: properties of the whole
 * statement, such as the number of a parameter, are found by walks over the finished tree (print.ts).
 */

declare const sqlText: unique symbol
declare const identText: unique symbol

/** Finished SQL text. It contains no value of a user. */
export type SqlText = string & { readonly [sqlText]: true }

export type Ident = SqlText & { readonly [identText]: true }

export type Sql =
  | SqlText
  | Parameter
  | PageSize
  | Parts
  | Written
  | Carried
  | Outlet
  | Vacancy
  | RowValue
  | ObjectValue
  | Item
  | Select
  | Union

/** A value that is sent beside the text. However often the same value is mentioned, it is one parameter. */
export interface Parameter {
  readonly kind: 'parameter'
  readonly value: unknown
}

/**
 * A number of rows from a variable, as a number in the text: for a parameter Postgres only guesses the limit (engine.md
 * 1). In texts that are compiled ahead, it is a hole.
 */
export interface PageSize {
  readonly kind: 'size'
  /** The number for the variables that the statement is written for. */
  readonly rows: number
  readonly hole: SizeHole
}

/** The number in a text: the smaller one of the variable and `most`, plus `plus`. */
export interface SizeHole {
  readonly variable: string
  readonly most: number
  readonly plus: number
}

interface Parts {
  readonly kind: 'parts'
  readonly nodes: readonly Sql[]
}

/** The text that a function, such as a builder, makes of the texts of nodes; it mentions each of them. */
interface Written {
  readonly kind: 'written'
  readonly write: (texts: readonly string[]) => string
  readonly nodes: readonly Sql[]
}

/** An expression of an inner select, mentioned outside of it: the inner select exports it as a column. */
export interface Carried {
  readonly kind: 'carried'
  readonly outlet: Outlet
  readonly of: Sql
  /** The column's name; null: the next of c1, c2, ... */
  readonly as: Ident | null
}

/** The place in the select list of an inner select for its exported columns. */
export interface Outlet {
  readonly kind: 'outlet'
  /** The alias of the inner select. */
  readonly alias: Ident
  /** The list if no column is used outside. */
  readonly otherwise: Sql
  /** A null of the type of an exported expression. */
  readonly nullOf: (of: Sql) => Sql
}

/**
 * Nulls in the place of an outlet's columns, or its default list, in a union of rows under one alias. All have a type:
 * Postgres resolves the types of a union in pairs, so that two untyped nulls would be text.
 */
export interface Vacancy {
  readonly kind: 'vacancy'
  readonly outlet: Outlet
}

/**
 * The form of a row until the whole becomes JSON: a record, or JSON of its own, which takes longer. Records without a
 * named type cannot be sent between servers.
 */
export type RowForm = 'record' | 'json'

/** The row under an alias as a value that becomes an object. */
interface RowValue {
  readonly kind: 'row'
  readonly alias: Ident
}

/** A member of an object: its key and an expression. */
export type Pair = readonly [key: string, value: Sql]

/** An object that is written in the form of rows. */
export interface ObjectValue {
  readonly kind: 'object'
  readonly record: Select
  /** Returns the same value each time. */
  readonly json: () => Sql
}

/** An object that becomes an item of the FROM clause of its select. */
export interface Item {
  readonly kind: 'item'
  readonly alias: Ident
  readonly pairs: readonly Pair[]
}

export interface Select {
  readonly kind: 'select'
  readonly with?: readonly Cte[]
  readonly distinctOn?: readonly Sql[]
  readonly columns: readonly Column[]
  readonly from?: readonly From[]
  /** Conditions that must all hold. */
  readonly where?: readonly Sql[]
  readonly groupBy?: readonly Sql[]
  /** Conditions on groups that must all hold. */
  readonly having?: readonly Sql[]
  readonly orderBy?: readonly Sql[]
  readonly limit?: Sql
  readonly offset?: Sql
}

/** A select list alone, with or without WITH. */
export type SelectList = Pick<Select, 'kind' | 'with' | 'columns'> & {
  readonly [Clause in Exclude<keyof Select, 'kind' | 'with' | 'columns'>]?: never
}

export interface Cte {
  readonly name: Ident
  readonly materialized: boolean
  readonly of: Sql
}

export interface Column {
  readonly value: Sql
  readonly as?: Ident
}

export interface From {
  readonly of: Sql
  readonly alias?: Ident
  readonly joins?: readonly JoinClause[]
}

export interface JoinClause {
  readonly kind: 'join' | 'left join' | 'left join lateral'
  readonly of: Sql
  readonly alias: Ident
  readonly on: Sql
}

/** Rows of several selects in one order. The alias and the column names apply outside. */
export interface Union {
  readonly kind: 'union'
  readonly alias: Ident
  readonly arms: readonly Select[]
  readonly orderBy: readonly Sql[]
  readonly limit: Sql
  readonly offset?: Sql
}

export const parameter = (value: unknown): Parameter => ({ kind: 'parameter', value })

export const select = (columns: readonly Column[], rest: Omit<Select, 'kind' | 'columns'> = {}): Select => ({
  kind: 'select',
  columns,
  ...rest,
})

export const selectList = (columns: readonly Column[], ctes: readonly Cte[] = []): SelectList => ({
  kind: 'select',
  columns,
  ...(ctes.length > 0 && { with: ctes }),
})

/** Text that is SQL because we wrote it, such as that of builders. Nothing else makes SQL of an unquoted string. */
export const trusted = (text: string): SqlText => text as SqlText

/** SQL with nodes in it: sql`${column} is null`. */
export function sql(texts: TemplateStringsArray, ...nodes: readonly (SqlText | number)[]): SqlText
export function sql(texts: TemplateStringsArray, ...nodes: readonly (Sql | number)[]): Sql
export function sql(texts: TemplateStringsArray, ...nodes: readonly (Sql | number)[]): Sql {
  return parts(nodes, (place) => texts[place] ?? '')
}

/** Nodes with the same text between them. */
export const joined = (nodes: readonly Sql[], between: ', ' | ' and ' | ' or ' | ' || ' | ' + ' | ' '): Sql =>
  parts(nodes, (place) => (place === 0 || place === nodes.length ? '' : between))

/** The text that a function makes of texts, with nodes in their place. */
export const written = (write: Written['write'], nodes: readonly Sql[]): Sql =>
  nodes.every(isText) ? trusted(write(nodes)) : { kind: 'written', write, nodes }

/** The same for a function of one text. */
export const applied = (write: (text: string) => string, node: Sql): Sql =>
  isText(node) ? trusted(write(node)) : written(([text = '']) => write(text), [node])

const isText = (node: Sql): node is SqlText => typeof node === 'string'

/**
 * Nodes and the texts around them, `textAt(0)` before the first. Texts only become one text, so that columns are not
 * trees.
 */
function parts(nodes: readonly (Sql | number)[], textAt: (place: number) => string): Sql {
  const all: Sql[] = []
  let text = textAt(0)
  nodes.forEach((node, index) => {
    if (typeof node === 'object') {
      all.push(trusted(text), node)
      text = textAt(index + 1)
    } else text += `${node}${textAt(index + 1)}`
  })
  return all.length === 0 ? trusted(text) : { kind: 'parts', nodes: [...all, trusted(text)] }
}

/**
 * A string constant in SQL text, for names that are data (node ids, enum labels); users' values are parameters. Text
 * with a backslash is written as an escape string, so that it means the same under both values of
 * standard_conforming_strings. Source: PostgreSQL manual, 4.1.2 Constants.
 */
export const literal = (text: string): SqlText => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return (text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted) as SqlText
}
