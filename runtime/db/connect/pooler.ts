import type pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import { openClient, type Server } from './server.ts'

/** What stands between us and Postgres: nothing, a pooler that keeps prepared statements apart, or one that mixes them up. */
export type Pooler = 'none' | 'sound' | 'breaks-statements'

const whoAnswers = 'select pg_catalog.pg_backend_pid() as pid'

/** A pooler gives its clients keys of its own for cancelling, so that they name another process than the one that answers. */
const isPooled = async (client: pg.Client): Promise<boolean> => {
  const { rows } = await client.query<{ readonly pid: number }>(whoAnswers)
  return rows[0]?.pid !== (client as unknown as { readonly processID: number }).processID
}

/** duplicate_prepared_statement and invalid_sql_statement_name. */
const mixedUp: ReadonlySet<string | null> = new Set(['42P05', '26000'])

/** The same name on two connections, by turns: over a pooler in transaction mode they share what Postgres has prepared. */
const breaksStatements = async (one: pg.Client, other: pg.Client): Promise<boolean> => {
  const probe = (client: pg.Client, text: string) => client.query({ name: 'catalograph.probe', text })
  try {
    await probe(one, 'select 1')
    await probe(other, 'select 2')
    await probe(one, 'select 1')
    return false
  } catch (error) {
    if (mixedUp.has(sqlstateOf(error))) return true
    throw error
  }
}

/** Rejects where no connection is to be had. */
export const findPooler = async (server: Server): Promise<Pooler> => {
  const clients = [await openClient(server)]
  try {
    const [one] = clients
    if (one === undefined || !(await isPooled(one))) return 'none'
    const other = await openClient(server)
    clients.push(other)
    return (await breaksStatements(one, other)) ? 'breaks-statements' : 'sound'
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
  }
}
