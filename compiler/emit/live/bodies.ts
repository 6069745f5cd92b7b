import { isJsonObject } from '../../../runtime/lib/json.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import { faulty, nothing, allMentions, type Mentions } from './mentions.ts'
import type { FunctionRow } from './live-rows.ts'
import { readParsed } from './sql-text.ts'

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
