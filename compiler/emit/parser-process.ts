import MakePgQuery, { type PgQuery } from 'pg-query-emscripten/pg_query_wasm.js'
import type { ParserQuestion } from './parse-apart.ts'

/**
 * The parsing process (see parse-apart.ts): each message is a question about a text, and answers come in the same
 * order. It ends with its parent.
 */

/**
 * A parser's memory is 16 MB and never freed: after some 60 kB of statements it answers nonsense or traps (measured
 * with 5.1.0, both builds). A new instance takes some 10 ms, so one is used for far less than that.
 */
const instanceBudget = 12_000

let held: PgQuery | null = null
let spent = 0

async function answerTo({ sql, wants }: ParserQuestion): Promise<unknown> {
  spent += sql.length
  if (held === null || spent > instanceBudget) {
    held = await new MakePgQuery()
    spent = sql.length
  }
  const answer = wants === 'problem' ? problemOf(held, sql) : treeOf(held, sql, wants)
  const failed = (answer === null) !== (wants === 'problem')
  if (failed) held = null
  return answer
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

function treeOf(instance: PgQuery, sql: string, wants: 'sql' | 'plpgsql'): unknown {
  try {
    const { error, ...found } = wants === 'sql' ? instance.parse(sql) : instance.parsePlpgsql(sql)
    return error ? null : found
  } catch {
    return null
  }
}

let turn: Promise<unknown> = Promise.resolve()
process.on('message', (question: ParserQuestion) => {
  turn = turn.then(async () => process.send?.({ answer: await answerTo(question) }))
})
