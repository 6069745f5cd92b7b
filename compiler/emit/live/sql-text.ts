import { isJsonObject } from '../../../runtime/lib/json.ts'
import { faulty, nothing, allMentions, type Fault, type Mentions, type Named } from './mentions.ts'
import { isClaim, isMoment } from './system.ts'

/** The dependencies in a parse tree of SQL from Postgres' parser; names in it are looked up later. */
export function readParsed(tree: unknown): Mentions {
  if (Array.isArray(tree)) return allMentions(tree.map(readParsed))
  if (!isJsonObject(tree)) return nothing
  return allMentions(Object.entries(tree).flatMap(([kind, value]) => [ofNode(kind, value), readParsed(value)]))
}

type Members = Readonly<Record<string, unknown>>

const readers: Readonly<Record<string, (node: Members) => Mentions>> = {
  RangeVar: ({ schemaname, relname }) => namedMention('relation', [schemaname, relname]),
  FuncCall: readCall,
  A_Expr: ({ name }) => namedMention('operator', stringsOf(name)),
  SubLink: ({ operName }) => (operName === undefined ? nothing : namedMention('operator', stringsOf(operName))),
  SortBy: ({ useOp }) => (useOp === undefined ? nothing : namedMention('operator', stringsOf(useOp))),
  ColumnRef: ({ fields }) => namedMention('field', stringsOf(fields).slice(-1)),
  A_Indirection: ({ indirection }) => namedMention('field', stringsOf(indirection).slice(-1)),
  typeName: ({ names }) => namedMention('cast', stringsOf(names).slice(-1)),
  SQLValueFunction: ({ op }) => (isMomentOp(op) ? faulty('clock') : nothing),
  A_Const: ({ sval }) => (isMoment(stringOf(sval)) ? faulty('clock') : nothing),
  RangeTableSample: () => faulty('volatile'),
  ...Object.fromEntries(
    ['InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt', 'CallStmt', 'VariableSetStmt', 'ExecuteStmt'].map(
      (statement) => [statement, () => faulty('volatile')] as const,
    ),
  ),
}

const ofNode = (kind: string, value: unknown): Mentions =>
  Object.hasOwn(readers, kind) && isJsonObject(value) ? (readers[kind]?.(value) ?? nothing) : nothing

function readCall({ funcname, args }: Members): Mentions {
  const path = stringsOf(funcname)
  const given = Array.isArray(args) ? args.length : 0
  const call = namedMention('function', path, given)
  return path.at(-1) === 'current_setting' ? allMentions([call, settingMentions(args)]) : call
}

function settingMentions(args: unknown): Mentions {
  const [first]: readonly unknown[] = Array.isArray(args) ? args : []
  const name = literalOf(first)
  if (name === null) return faulty('unknown')
  const faults: readonly Fault[] = isClaim(name) ? [] : [{ kind: 'setting', name }]
  return { ...nothing, faults }
}

/** A string literal, with or without a type. */
function literalOf(node: unknown): string | null {
  if (!isJsonObject(node)) return null
  const { A_Const: constant, TypeCast: cast } = node
  if (isJsonObject(cast)) return literalOf(cast['arg'])
  return isJsonObject(constant) && isJsonObject(constant['sval']) ? stringOf(constant['sval']) : null
}

const isMomentOp = (op: unknown): boolean => /DATE|TIME/.test(String(op))

/** The word in `{"sval": "word"}`. */
const stringOf = (node: unknown): string => (isJsonObject(node) ? String(node['sval'] ?? '') : '')

const stringsOf = (list: unknown): readonly string[] =>
  Array.isArray(list)
    ? list.flatMap((item) => (isJsonObject(item) && isJsonObject(item['String']) ? [stringOf(item['String'])] : []))
    : []

/** The last two words of a path are a schema and a name in it. */
function namedMention(kind: Named['kind'], path: readonly unknown[], args: number | null = null): Mentions {
  const [name, schema] = [path.at(-1), path.at(-2)]
  if (typeof name !== 'string' || name === '') return nothing
  return { ...nothing, names: [{ kind, schema: typeof schema === 'string' ? schema : null, name, args }] }
}
