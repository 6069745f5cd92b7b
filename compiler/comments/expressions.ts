import { isJsonObject } from '../../runtime/lib/json.ts'

/** Expressions of SQL in comments, which become part of statements (spec/graphql.md 17.5). */

const longest = 1_000

/** The expression as part of a statement; it may end with a comment of SQL. */
export const enclosed = (expression: string): string => `(${expression}${expression.includes('--') ? '\n' : ''})`

/** Parses SQL (pg-query); null if it cannot be parsed. */
export type ParseTree = (sql: string, wants: 'sql') => Promise<unknown>

/**
 * Why a text is not exactly one expression that depends only on the caller: without rows and parameters; null if it is.
 * Sub-selects may name columns of their own FROM.
 */
export async function expressionProblem(parse: ParseTree, text: string): Promise<string | null> {
  if (text.length > longest) return `it is longer than ${longest} characters`
  const value = onlyValue(await parse(`select ${enclosed(text)}`, 'sql'))
  if (value === null) return 'it is not exactly one expression of SQL'
  return outOfPlace(value, false)
}

type Node = Readonly<Record<string, unknown>>

const member = (node: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), node)

/** The single target of a statement that is just `select (...)`. */
function onlyValue(tree: unknown): Node | null {
  const statements = member(tree, 'parse_tree', 'stmts')
  const select =
    Array.isArray(statements) && statements.length === 1 ? member(statements[0], 'stmt', 'SelectStmt') : null
  if (!isJsonObject(select) || !Object.keys(select).every((name) => plainSelect.has(name))) return null
  if (member(select, 'op') !== 'SETOP_NONE') return null
  const targets = member(select, 'targetList')
  const target = Array.isArray(targets) && targets.length === 1 ? member(targets[0], 'ResTarget') : null
  const value = member(target, 'val')
  const isBare = isJsonObject(target) && Object.keys(target).every((name) => name === 'val' || name === 'location')
  return isBare && isJsonObject(value) && !('RowExpr' in value) ? value : null
}

const plainSelect: ReadonlySet<string> = new Set(['targetList', 'limitOption', 'op'])

/** A part of a tree that is invalid without a row. */
function outOfPlace(node: unknown, isInside: boolean): string | null {
  if (Array.isArray(node)) return firstProblem(node.map((item): [unknown, boolean] => [item, isInside]))
  if (!isJsonObject(node)) return null
  if ('ParamRef' in node) return 'it has a parameter'
  if ('SetToDefault' in node) return 'it has DEFAULT'
  if ('ColumnRef' in node && !isInside) return 'it names a column outside of a sub-select'
  return firstProblem(
    Object.entries(node).map(([name, inner]): [unknown, boolean] => [inner, isInside || name === 'subselect']),
  )
}

function firstProblem(nodes: readonly (readonly [node: unknown, isInside: boolean])[]): string | null {
  for (const [node, isInside] of nodes) {
    const problem = outOfPlace(node, isInside)
    if (problem !== null) return problem
  }
  return null
}
