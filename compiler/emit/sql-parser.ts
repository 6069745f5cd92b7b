import { createLru } from '../../runtime/lib/caches.ts'
import { gaveUp, parseApart, startParser } from './parse-apart.ts'

/** Why a text is not exactly one SQL statement, or null if it is. */
export type ParseSql = (sql: string) => Promise<string | null>

/** A longer one would exhaust an instance, which may then hang. */
const longestShape = 30_000
const rememberedCharacters = 2_000_000

/** The problem of a shape, null: none. The grammar is constant, so all compilers of this process share it. */
const known = createLru<string, { readonly problem: string | null }>(rememberedCharacters, (_, shape) => shape.length)

/**
 * Parses with the grammar of PostgreSQL 16. Statements that differ in names only have one shape, and a shape is parsed
 * once: two thousand tables of common types have a few dozen.
 */
export function createSqlParser(): ParseSql {
  // Requests wait for the first compile: its parser starts while the catalogue is read.
  if (known.size === 0) startParser()
  return async (sql) => {
    const shape = statementShape(sql)
    const before = known.get(shape)
    if (before !== undefined) return before.problem
    const problem = await parseOne(shape)
    // A failure of the parser does not concern the text.
    if (problem !== gaveUp) known.set(shape, { problem })
    return problem
  }
}

const tooLong = 'it is too long to check'

/** Whether the parser failed, which does not concern the text. */
export const isUnparsed = (problem: string): boolean => problem === tooLong || problem === gaveUp

async function parseOne(sql: string): Promise<string | null> {
  if (sql.length > longestShape) return tooLong
  if (sql.includes('\0')) return 'a NUL character ends the statement early'
  return parseApart(sql)
}

/** Quoted identifiers, escape strings and plain strings, as PostgreSQL's scanner delimits them (manual 4.1). */
const quoted = /"(?:[^"\0]|"")+"|[eE]'(?:[^'\\\0]|''|\\[^\0])*'|'(?:[^'\\\0]|'')*'/g
/**
 * Characters for which the pattern above may split differently from the scanner: comments, dollar quotes, an unmatched
 * quote.
 */
const unsure = /--|\/\*|\$(?![0-9])|["'\\\0]/
/** Columns of a table and labels of an enum may be thousands; repetitions in a list do not affect parsing. */
const repeated = /( when 's' then 's'|, (?:[a-z]+\.)?"n")\1+/g

/**
 * The text with normalized names and strings. Texts of one shape parse alike; a text that may be split wrongly is its
 * own shape.
 */
export function statementShape(sql: string): string {
  if (unsure.test(sql.replace(quoted, ''))) return sql
  return sql.replace(quoted, (token) => (token.startsWith('"') ? '"n"' : "'s'")).replace(repeated, '$1')
}
