import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import type { PoolerSetting } from '../../settings/keys.ts'
import type { Opened } from './route.ts'

/** What stands between us and Postgres: nothing, or a pooler that keeps prepared statements, knows none, or knows no transactions. */
export type Pooler = 'none' | 'statements' | 'no-statements' | 'no-transactions'

/** Opens a connection to a server as the others are opened. */
type Open = () => Promise<Opened<pg.Client>>

/**
 * Whether Postgres knows a statement by the name that it was prepared under; a pooler that keeps statements gives them
 * names of its own. Null: the pooler lends its backends for single statements.
 */
const passesNames = async (client: pg.Client): Promise<boolean | null> => {
  const name = `catalograph.probe.${randomUUID()}`
  try {
    await client.query('begin')
    await client.query({ name, text: 'select 1' })
  } catch (error) {
    // PgBouncer 1.18 and 1.25: protocol_violation.
    if (sqlstateOf(error) === '08P01') return null
    throw error
  }
  const { rowCount } = await client.query('select from pg_catalog.pg_prepared_statements where name = $1', [name])
  if (rowCount !== 0) await client.query(`deallocate "${name}"`)
  await client.query('commit')
  return rowCount !== 0
}

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ readonly pid: number }>('select pg_catalog.pg_backend_pid() as pid')).rows[0]?.pid

/** In session mode each keeps its backend, however they take turns; a pooler that lends for transactions gives what is free. */
const keepBackends = async (one: pg.Client, other: pg.Client): Promise<boolean> => {
  const pids: (number | undefined)[] = []
  for (const client of [one, other, one, one, other, other]) pids.push(await backendOf(client))
  const [a, b] = pids
  return a !== b && String(pids) === String([a, b, a, a, b, b])
}

/** What was found cannot be worked with; the message says what to change. */
export class PoolerFault extends Error {
  override readonly name = 'PoolerFault'
}

/**
 * Why what is asked through it would fail; null: it would not.
 * @param database what the sentence calls the database behind it
 */
export const poolerFault = (setting: PoolerSetting, found: Pooler, database = 'the database'): string | null => {
  if (found === 'no-transactions')
    return `the pooler before ${database} lends connections for single statements: set its pool_mode to transaction`
  if (setting === 'none' && found !== 'none')
    return `DATABASE_POOLER=none, but a pooler stands before ${database}: set it to auto`
  if (setting === 'statements' && found === 'no-statements')
    return `DATABASE_POOLER=statements, but the pooler before ${database} keeps none: set it to auto`
  return null
}

/** Rejects where no connection is to be had. */
export const findPooler = async (open: Open): Promise<Pooler> => {
  const { client, pooled } = await open()
  const clients = [client]
  try {
    if (!pooled) return 'none'
    const passes = await passesNames(client)
    if (passes === null) return 'no-transactions'
    if (!passes) return 'statements'
    const { client: other } = await open()
    clients.push(other)
    return (await keepBackends(client, other)) ? 'statements' : 'no-statements'
  } finally {
    await Promise.all(clients.map((one) => one.end().catch(() => undefined)))
  }
}
