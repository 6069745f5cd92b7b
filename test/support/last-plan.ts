import { literal } from '../../runtime/sql/tree.ts'
import type { TestService } from './service.ts'

/**
 * The plan, as JSON text, that Postgres has for the statement that was sent last, as the role and with the values that it was
 * sent with; `analyze` runs it again. `settings` apply during that run.
 */
export async function lastPlan(
  { db, exchanges }: TestService,
  { analyze = false, settings = [] }: { readonly analyze?: boolean; readonly settings?: readonly string[] } = {},
): Promise<string> {
  const exchange = exchanges.at(-1)
  const statement = exchange?.statements[0]
  if (exchange === undefined || statement === undefined) throw new Error('no statement was sent')
  const values = statement.values.map((value) => (value === null ? 'null' : literal(value)))
  const run = `execute last_sent${values.length > 0 ? `(${values.join(', ')})` : ''}`
  try {
    await db.queryAsLogin(
      ['begin', ...settings.map((setting) => `set local ${setting}`), `set local role ${exchange.caller.role}`].join(
        '; ',
      ),
    )
    await db.queryAsLogin(`prepare last_sent as ${statement.text}`)
    const { rows } = await db.queryAsLogin(`explain (${analyze ? 'analyze, ' : ''}format json) ${run}`)
    return JSON.stringify(rows[0]['QUERY PLAN'])
  } finally {
    await db.queryAsLogin('rollback; deallocate all')
  }
}
