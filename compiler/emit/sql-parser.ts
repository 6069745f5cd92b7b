import { createLru } from '../../runtime/lib/caches.ts'
import { gaveUp, parseApart, startParser } from './parse-apart.ts'

/** Why a text is not exactly one SQL statement, or null when it is. */
export type ParseSql = (sql: string) => Promise<string | null>

/** One that is longer would use up an instance by itself, and an exhausted one may never come back. */
const longestShape = 30_000
const rememberedCharacters = 2_000_000

/** What is wrong with a shape, null: nothing. The grammar is one, so all compilers of this process share it. */
const known = createLru<string, { readonly problem: string | null }>(rememberedCharacters, (_, shape) => shape.length)

/**
 * Parses with the grammar of PostgreSQL 16. Statements that differ in names only have one shape, and a shape is parsed
 * once: two thousand tables of common types come down to a few dozen.
 */
export function createSqlParser(): ParseSql {
  // The first compile is waited for: its parser starts while the catalogue is read.
  if (known.size === 0) startParser()
  return async (sql) => {
    const shape = statementShape(sql)
    const before = known.get(shape)
    if (before !== undefined) return before.problem
    const problem = await parseOne(shape)
    // A parser that gave up says nothing about the text.
    if (problem !== gaveUp) known.set(shape, { problem })
    return problem
  }
}

const tooLong = 'it is too long to check'

/** Whether the problem is the parser's, which says nothing about the text. */
export const isUnparsed = (problem: string): boolean => problem === tooLong || problem === gaveUp

async function parseOne(sql: string): Promise<string | null> {
  if (sql.length > longestShape) return tooLong
  if (sql.includes('\0')) return 'a NUL character ends the statement early'
  return parseApart(sql)
}

/** Quoted identifiers, escape strings and plain strings, as PostgreSQL's scanner delimits them (manual 4.1). */
const quoted = /"(?:[^"\0]|"")+"|[eE]'(?:[^'\\\0]|''|\\[^\0])*'|'(?:[^'\\\0]|'')*'/g
/**
 * What would make the pattern above cut elsewhere than the scanner does: comments, dollar quotes, a quote left alone.
 */
const unsure = /--|\/\*|\$(?![0-9])|["'\\\0]/
/**
 * Columns of a table and labels of an enum may be thousands; one more of the same in a list changes nothing in how it
 * parses.
 */
const repeated = /( when 's' then 's'|, (?:[a-z]+\.)?"n")\1+/g

/**
 * The text with every name and string made equal. Texts of one shape parse alike; a text that is not surely cut keeps
 * its own.
 */
export function statementShape(sql: string): string {
  if (unsure.test(sql.replace(quoted, ''))) return sql
  return sql.replace(quoted, (token) => (token.startsWith('"') ? '"n"' : "'s'")).replace(repeated, '$1')
}
