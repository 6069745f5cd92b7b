import MakePgQuery, { type PgQuery } from 'pg-query-emscripten/pg_query_wasm.js'

/**
 * The process that parses (see parse-apart.ts): each message is a statement's text, each answer, in the same order, why it is not
 * exactly one statement, or null. It ends with its parent.
 */

/**
 * A parser's memory is 16 MB and nothing in it is given back: after some 60 kB of statements it answers nonsense or
 * traps (measured with 5.1.0, both builds). A new instance takes some 10 ms, so one is used for far less than that.
 */
const instanceBudget = 12_000

let held: PgQuery | null = null
let spent = 0

async function parse(sql: string): Promise<string | null> {
  spent += sql.length
  if (held === null || spent > instanceBudget) {
    held = await new MakePgQuery()
    spent = sql.length
  }
  const problem = problemOf(held, sql)
  if (problem !== null) held = null
  return problem
}

function problemOf(instance: PgQuery, sql: string): string | null {
  try {
    const { error, parse_tree: tree } = instance.parse(sql)
    if (error) return error.message
    const count = tree?.stmts?.length ?? 0
    return count === 1 ? null : `${count} statements instead of one`
  } catch {
    return 'the parser gave up'
  }
}

let turn: Promise<unknown> = Promise.resolve()
process.on('message', (sql: string) => {
  turn = turn.then(async () => process.send?.(await parse(sql)))
})
