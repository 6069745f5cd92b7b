import type { Oid } from '../../catalog/catalog.ts'
import { isJsonObject } from '../../../runtime/lib/json.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import type { FunctionRow } from './query.ts'

/** The dependencies of an expression or a body besides its arguments. */
export type Fault =
  | { readonly kind: 'clock' | 'volatile' | 'unknown' }
  | { readonly kind: 'setting'; readonly name: string }

/** A name in a body that is looked up on a search path. */
export interface Named {
  readonly kind: 'relation' | 'function' | 'operator' | 'field' | 'cast'
  /** Null: the search path decides. */
  readonly schema: string | null
  readonly name: string
  /** The number of arguments of a function; null: unknown. */
  readonly args: number | null
}

export interface Mentions {
  readonly relations: readonly Oid[]
  readonly functions: readonly Oid[]
  readonly operators: readonly Oid[]
  readonly names: readonly Named[]
  readonly faults: readonly Fault[]
}

export const nothing: Mentions = { relations: [], functions: [], operators: [], names: [], faults: [] }

const faulty = (kind: 'clock' | 'volatile' | 'unknown'): Mentions => ({ ...nothing, faults: [{ kind }] })

export const allMentions = (all: readonly Mentions[]): Mentions => ({
  relations: [...new Set(all.flatMap(({ relations }) => relations))],
  functions: [...new Set(all.flatMap(({ functions }) => functions))],
  operators: [...new Set(all.flatMap(({ operators }) => operators))],
  names: all.flatMap(({ names }) => names),
  faults: all.flatMap(({ faults }) => faults),
})

/** Functions of Postgres whose results depend on the time, the connection, or state without triggers. */
const clock: ReadonlySet<string> = new Set([
  'now',
  'transaction_timestamp',
  'statement_timestamp',
  'clock_timestamp',
  'timeofday',
])

/** Declared as stable: they differ between transactions or connections. */
const ofConnection =
  /^(txid_current|pg_current_xact_id|pg_current_snapshot|txid_current_snapshot|pg_backend_pid|inet_client_)/

const readsTables = /^(table|schema|database|query|cursor)_to_xml|^pg_stat_get_/

/** The fault of a function of pg_catalog by its name; null: it depends on its arguments alone, or on the schema. */
export function systemFault(name: string): 'clock' | 'volatile' | 'unknown' | null {
  if (clock.has(name)) return 'clock'
  if (ofConnection.test(name)) return 'volatile'
  return readsTables.test(name) ? 'unknown' : null
}

const isClaim = (setting: string): boolean => /^request\.jwt\.claims?(\.|$)/i.test(setting)

/** Words for the present time in a date or time. */
const isMoment = (text: string): boolean => /^\s*(now|today|tomorrow|yesterday)\s*$/i.test(text)

/**
 * The dependencies of an expression that Postgres stores parsed (pg_node_tree): policies, views and bodies of
 * functions. The trees are read instead of pg_depend, which omits objects of the initial database.
 */
export const readTree = (tree: string): Mentions => ({
  relations: oidsOf(tree, /:relid (\d+)/g),
  functions: oidsOf(tree, /:(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)/g),
  operators: [
    ...oidsOf(tree, /:(?:opno|eqop|sortop) (\d+)/g),
    ...matches(tree, /:opnos \(o ([\d ]+)\)/g).flatMap((list) => list.trim().split(' ')),
  ],
  names: [],
  faults: [...clockFaults(tree), ...sampleFaults(tree), ...settingFaults(tree)],
})

const matches = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, found = '']) => found)

const oidsOf = (tree: string, pattern: RegExp): readonly Oid[] =>
  [...new Set(matches(tree, pattern))].filter((oid) => oid !== '0')

/** Members of SQLValueFunctionOp up to this one are dates and times (Postgres' primnodes.h); the rest are names of roles. */
const lastMoment = 8

/** A text that becomes a date at run time may be `now`; a literal of a date has become one before. */
const castLiteral = /\{COERCEVIAIO :arg \{CONST [^{}]*:constvalue \d+ \[ ([-\d ]+) \]\}/g

function clockFaults(tree: string): readonly Fault[] {
  const asks = matches(tree, /\{SQLVALUEFUNCTION :op (\d+)/g).some((op) => Number(op) <= lastMoment)
  return asks || matches(tree, castLiteral).some((bytes) => isMoment(decodedBytes(bytes))) ? [{ kind: 'clock' }] : []
}

/** The rows of a sample are random. */
const sampleFaults = (tree: string): readonly Fault[] =>
  tree.includes('{TABLESAMPLECLAUSE ') ? [{ kind: 'volatile' }] : []

/** 2077 and 3294 are current_setting(). */
const asksSetting = /:funcid (?:2077|3294) /g
const asksConstant = /:funcid (?:2077|3294) [^{}]*:args \(\{CONST [^{}]*:constvalue \d+ \[ ([-\d ]+) \]\}/g

function settingFaults(tree: string): readonly Fault[] {
  const names = matches(tree, asksConstant).map(decodedBytes)
  const others = names.filter((name) => !isClaim(name)).map((name): Fault => ({ kind: 'setting', name }))
  const asked = tree.match(asksSetting)?.length ?? 0
  return asked === names.length ? others : [...others, { kind: 'unknown' }]
}

/** Bytes of a value of type text, after the four of its length; they are printed as signed. */
const decodedBytes = (bytes: string): string =>
  Buffer.from(
    bytes
      .trim()
      .split(/\s+/)
      .slice(4)
      .map((byte) => Number(byte) & 255),
  ).toString()

/** The parse tree of a text; null where it cannot be parsed. */
export type Parse = (sql: string, wants: 'sql' | 'plpgsql') => Promise<unknown>

/** A longer one would exhaust a parser. */
const longestBody = 30_000

/** The dependencies of a function's body that is stored as text. */
export async function readSource(fn: FunctionRow, parse: Parse): Promise<Mentions> {
  const { language, source } = fn
  if (source.length > longestBody || source.includes('\0')) return faulty('unknown')
  if (language === 'sql') return readSql(source, parse)
  return language === 'plpgsql' ? readBlock(fn, parse) : faulty('unknown')
}

async function readSql(text: string, parse: Parse): Promise<Mentions> {
  const tree = await parse(text, 'sql')
  return tree === null ? faulty('unknown') : readParsed(tree)
}

const quote = '$catalograph_body$'

/** The parser of PL/pgSQL takes the statement that creates a function; it does not resolve types. */
async function readBlock(fn: FunctionRow, parse: Parse): Promise<Mentions> {
  if (fn.source.includes(quote)) return faulty('unknown')
  const args = fn.argNames.map((name, place) => `${fn.argModes[place] ?? ''} ${name === '' ? '' : ident(name)} int`)
  const returns = fn.returnsVoid ? 'void' : fn.returnsSet ? 'setof int' : 'int'
  const result = fn.argModes.some((mode) => mode.endsWith('out')) ? '' : `returns ${returns}`
  const text = `create function f(${args.join(', ')}) ${result} language plpgsql as ${quote}${fn.source}${quote}`
  const tree = await parse(text, 'plpgsql')
  if (tree === null) return faulty('unknown')
  const found: Found = { expressions: [], isDynamic: false }
  search(tree, found)
  const read = await Promise.all(found.expressions.map((sql) => readSql(sql, parse)))
  return allMentions([found.isDynamic ? faulty('unknown') : nothing, ...read])
}

interface Found {
  readonly expressions: string[]
  /** It executes dynamic SQL. */
  isDynamic: boolean
}

function search(tree: unknown, found: Found): void {
  if (Array.isArray(tree)) for (const item of tree) search(item, found)
  if (!isJsonObject(tree)) return
  for (const [kind, value] of Object.entries(tree)) {
    if (kind.startsWith('PLpgSQL_stmt_dyn') || kind === 'dynquery') found.isDynamic = true
    if (kind === 'PLpgSQL_expr' && isJsonObject(value)) found.expressions.push(statementOf(value))
    else search(value, found)
  }
}

/** Members of RawParseMode: a statement, an expression; all others are assignments. */
const [statement, expression] = [0, 2]

function statementOf({ query, parseMode }: Readonly<Record<string, unknown>>): string {
  const text = String(query)
  if (parseMode === statement) return text
  if (parseMode === expression) return `select ${text}`
  const [, target = '', value = text] = /^([^=]*?):?=([\s\S]*)$/.exec(text) ?? []
  return target.includes('[') ? `select ${target}, ${value}` : `select ${value}`
}

/** The dependencies in a parse tree of SQL from Postgres' parser; names in it are looked up later. */
function readParsed(tree: unknown): Mentions {
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
