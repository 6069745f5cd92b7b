import MakePgQuery, { type PgQuery } from 'pg-query-emscripten/pg_query_wasm.js'
import { createLru } from '../../runtime/lib/lru.ts'

/** Why a text is not exactly one SQL statement, or null when it is. */
export type ParseSql = (sql: string) => Promise<string | null>

/**
 * A parser's memory is 16 MB and nothing in it is given back: after some 60 kB of statements it answers nonsense or
 * traps (measured with 5.1.0, both builds). A new instance takes about 10 ms, so one is used for far less than that, and
 * held weakly: between compiles its memory is free to go.
 */
const instanceBudget = 12_000
/** One that is longer would use up an instance by itself, and an exhausted one may never come back. */
const longestShape = 30_000
const rememberedShapes = 2_000

/**
 * Parses with the grammar of PostgreSQL 16. Statements that differ in names only have one shape, and a shape is parsed
 * once: two thousand tables of common types come down to a few dozen.
 */
export function createSqlParser(): ParseSql {
  const known = createLru<string, { readonly problem: string | null }>(rememberedShapes)
  let held: WeakRef<PgQuery> | null = null
  let spent = 0
  return async (sql) => {
    const shape = statementShape(sql)
    const before = known.get(shape)
    if (before !== undefined) return before.problem
    spent += shape.length
    let instance = spent > instanceBudget ? undefined : held?.deref()
    if (instance === undefined) {
      instance = await new MakePgQuery()
      held = new WeakRef(instance)
      spent = shape.length
    }
    const problem = parseOne(instance, shape)
    if (problem !== null) held = null
    known.set(shape, { problem })
    return problem
  }
}

const tooLong = 'it is too long to check'
const gaveUp = 'the parser gave up'

/** Whether the problem is the parser's, which says nothing about the text. */
export const isUnchecked = (problem: string): boolean => problem === tooLong || problem === gaveUp

function parseOne(instance: PgQuery, sql: string): string | null {
  if (sql.length > longestShape) return tooLong
  if (sql.includes('\0')) return 'a NUL character ends the statement early'
  try {
    const { error, parse_tree: tree } = instance.parse(sql)
    if (error) return error.message
    const count = tree?.stmts?.length ?? 0
    return count === 1 ? null : `${count} statements instead of one`
  } catch {
    return gaveUp
  }
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
