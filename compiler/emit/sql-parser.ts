import { createLru } from '../../runtime/lib/caches.ts'
import { gaveUp, parseApart, startParser } from './parse-apart.ts'

/** Why a text is not exactly one SQL statement, or null if it is. */
export type ParseSql = (sql: string) => Promise<string | null>

/** A longer one would exhaust an instance, which may then hang. */
const longestShape = 30_000
const rememberedCharacters = 2_000_000

/** The problem of a shape, null: none. The grammar is constant, so all compilers of this process share it. */
const known = createLru<string, { readonly problem: string | null }>(rememberedCharacters, (_, shape) => shape.length)

/** Statements that differ in names only have one shape, which is parsed once, by the grammar of PostgreSQL 16. */
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
/** The pattern above may split these differently from the scanner: comments, dollar quotes, unmatched quotes. */
const unsure = /--|\/\*|\$(?![0-9])|["'\\\0]/
/** Columns of a table and labels of an enum may be thousands; repetitions in a list do not affect parsing. */
const repeated = /( when 's' then 's'|, (?:[a-z]+\.)?"n")\1+/g

/** Texts of one shape parse alike; a text that may be split wrongly is its own shape. */
export function statementShape(sql: string): string {
  if (unsure.test(sql.replace(quoted, ''))) return sql
  return sql.replace(quoted, (token) => (token.startsWith('"') ? '"n"' : "'s'")).replace(repeated, '$1')
}
