import type pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import { retries, retry } from '../../lib/retry.ts'
import type { PoolerSetting } from '../../settings/keys.ts'
import type { Opening } from './server.ts'

/**
 * How connections reach Postgres: directly, or through a pooler, which may give each transaction another backend. A
 * pooler drops the settings of the startup packet, or refuses the connection because of them; connections to a pooler
 * are opened without them, and each transaction sets them.
 */

export interface Opened<C extends pg.ClientBase> {
  readonly client: C
  readonly pooled: boolean
}

const whoAnswers = 'select pg_catalog.pg_backend_pid() as pid'

/** A pooler gives its clients cancel keys of its own, so they name another process than the backend. */
const isPooled = async (client: pg.ClientBase): Promise<boolean> => {
  const { rows } = await client.query<{ readonly pid: number }>(whoAnswers)
  return rows[0]?.pid !== (client as unknown as { readonly processID: number }).processID
}

/** protocol_violation. */
const isRefusal = (error: unknown): boolean => sqlstateOf(error) === '08P01'

const withoutOptions: pg.ClientConfig = { options: '' }

/** admin_shutdown: an administrator terminated the backend, or the server is stopping. */
const isTerminated = (error: unknown): boolean => sqlstateOf(error) === '57P01'

/** Opens a connection, with or without settings in the startup packet. Rejects with the errors of `connect`. */
export const createOpen = <C extends pg.ClientBase>(
  { connect, end }: Opening<C>,
  setting: PoolerSetting,
): (() => Promise<Opened<C>>) => {
  if (setting !== 'auto') {
    const pooled = setting !== 'none'
    return async () => ({ client: await connect(pooled ? withoutOptions : {}), pooled })
  }
  /** As found with the last connection. */
  let behindPooler = false
  const known = new WeakMap<C, boolean>()
  const look = async (client: C): Promise<boolean> => {
    try {
      return known.get(client) ?? (await isPooled(client))
    } catch (error) {
      end(client)
      throw error
    }
  }
  /** Only a pooler refuses the options. */
  const attempt = async (refused: boolean, connected: () => void): Promise<Opened<C>> => {
    const without = refused || behindPooler
    let client: C
    try {
      client = await connect(without ? withoutOptions : {})
    } catch (error) {
      if (without || !isRefusal(error)) throw error
      return attempt(true, connected)
    }
    connected()
    const pooled = refused || (await look(client))
    known.set(client, pooled)
    behindPooler = pooled
    if (pooled || !without) return { client, pooled }
    end(client)
    return attempt(false, connected)
  }
  return () => {
    let isConnected = false
    const open = (): Promise<Opened<C>> => {
      isConnected = false
      return attempt(false, () => (isConnected = true))
    }
    return retry(retries.newConnection, open, (error) => isConnected || isTerminated(error))
  }
}
