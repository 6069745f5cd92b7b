import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import type { PoolerSetting } from '../../settings/keys.ts'
import type { Opened } from './session.ts'

/**
 * The pooler in front of Postgres, if any: one that keeps prepared statements, one that does not support them, one that
 * loses track of them, or one that does not support transactions.
 */
export type Pooler = 'none' | 'statements' | 'no-statements' | 'unreliable-statements' | 'no-transactions'

/** Opens a further connection to the same server. */
type Open = () => Promise<Opened<pg.Client>>

/** The names under which a pooler prepares statements. */
type Names = 'given' | 'its own' | 'of pgcat'

/** The names that pgcat gives to statements of its cache. */
const ofPgcat = '^PGCAT_[0-9]+$'

/** How Postgres names a prepared statement. Null: the pooler lends its backends for single statements. */
const namesBehind = async (client: pg.Client): Promise<Names | null> => {
  const name = `catalograph.probe.${randomUUID()}`
  try {
    await client.query('begin')
    await client.query({ name, text: 'select 1' })
  } catch (error) {
    // PgBouncer 1.18 and 1.25: protocol_violation.
    if (sqlstateOf(error) === '08P01') return null
    throw error
  }
  const { rows } = await client.query<{ readonly given: boolean }>(
    'select name = $1 as given from pg_catalog.pg_prepared_statements where name = $1 or name ~ $2',
    [name, ofPgcat],
  )
  const isGiven = rows.some(({ given }) => given)
  if (isGiven) await client.query(`deallocate "${name}"`)
  await client.query('commit')
  if (isGiven) return 'given'
  return rows.length > 0 ? 'of pgcat' : 'its own'
}

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ readonly pid: number }>('select pg_catalog.pg_backend_pid() as pid')).rows[0]?.pid

/** In session mode each client keeps its backend; a pooler in transaction mode lends any free backend. */
const keepBackends = async (one: pg.Client, other: pg.Client): Promise<boolean> => {
  const pids: (number | undefined)[] = []
  for (const client of [one, other, one, one, other, other]) pids.push(await backendOf(client))
  const [a, b] = pids
  return a !== b && String(pids) === String([a, b, a, a, b, b])
}

/** The pooler that was found cannot be used; the message says which setting to change. */
export class PoolerFault extends Error {
  override readonly name = 'PoolerFault'
}

/**
 * Why requests through this pooler would fail; null if they would not.
 * @param database the name of the database in the sentence
 */
export const poolerFault = (setting: PoolerSetting, found: Pooler, database = 'the database'): string | null => {
  if (found === 'no-transactions')
    return `the pooler before ${database} lends connections for single statements: set its pool_mode to transaction`
  if (found === 'unreliable-statements')
    return `pgcat before ${database} loses track of prepared statements: set its prepared_statements_cache_size to 0`
  if (setting === 'none' && found !== 'none')
    return `DATABASE_POOLER=none, but a pooler is in front of ${database}: set it to auto`
  if (setting === 'statements' && found === 'no-statements')
    return `DATABASE_POOLER=statements, but the pooler before ${database} keeps none: set it to auto`
  return null
}

/** Rejects if no connection can be opened. */
export const findPooler = async (open: Open): Promise<Pooler> => {
  const { client, pooled } = await open()
  const clients = [client]
  try {
    if (!pooled) return 'none'
    const names = await namesBehind(client)
    if (names === null) return 'no-transactions'
    if (names === 'of pgcat') return 'unreliable-statements'
    if (names === 'its own') return 'statements'
    const { client: other } = await open()
    clients.push(other)
    return (await keepBackends(client, other)) ? 'statements' : 'no-statements'
  } finally {
    await Promise.all(clients.map((one) => one.end().catch(() => undefined)))
  }
}
