import type pg from 'pg'
import type { PoolerSetting } from '../../settings/keys.ts'
import { findPooler, PoolerFault, poolerFault } from '../connect/pooler.ts'
import { createOpen, type Opened } from '../connect/session.ts'
import { openingOf, type Server } from '../connect/server.ts'
import type { SettingPairs } from '../connect/startup.ts'
import { createSocket } from '../wire/messages.ts'
import { createConnection, type Connection, type Described, type Pooled } from '../wire/exchange.ts'
import { settingsOn } from './backend-settings.ts'

export interface ConnectingOptions {
  readonly server: Server
  readonly pooler: PoolerSetting
  /** Milliseconds. */
  readonly connectTimeout: number
  readonly described: Described | null
  /** The first work on a connection with a backend of its own. */
  readonly prepare?: (client: pg.Client) => Promise<unknown>
}

type Open = () => Promise<Opened<pg.Client>>

export const openTo = (server: Server, pooler: PoolerSetting, config: pg.ClientConfig): Open =>
  createOpen(openingOf(server, config), pooler)

/** Facts about the pooler in front of a server. */
interface PoolerFacts {
  /** Asks by a first connection. Rejects with PoolerFault where the pooler cannot be worked with. */
  readonly of: (client: pg.Client) => Promise<Pooled>
  /** After an outage another pooler may be there. */
  readonly resetFacts: () => void
}

const createPoolerFacts = (setting: PoolerSetting, settings: SettingPairs, open: Open): PoolerFacts => {
  const keepsNames = async (): Promise<boolean> => {
    if (setting !== 'auto') return setting === 'statements'
    const found = await findPooler(open)
    const fault = poolerFault(setting, found)
    if (fault !== null) throw new PoolerFault(fault)
    return found === 'statements'
  }
  const find = async (client: pg.Client): Promise<Pooled> => {
    let kept = await keepsNames()
    const lostName = (): void => {
      if (setting === 'auto') kept = false
    }
    return { settings: await settingsOn(client, settings), keepsNames: () => kept, lostName }
  }
  let finding: Promise<Pooled> | null = null
  const resetFacts = (): void => {
    finding = null
  }
  return {
    of: (client) => {
      finding ??= find(client).catch((error: unknown) => {
        resetFacts()
        throw error
      })
      return finding
    },
    resetFacts,
  }
}

/** Makes connections, which find out what they go to. */
export const createConnect = (options: ConnectingOptions): (() => Promise<Connection>) => {
  const { server, pooler, connectTimeout, described, prepare } = options
  const config = { stream: createSocket, connectionTimeoutMillis: connectTimeout, keepAlive: true }
  const open = openTo(server, pooler, config)
  const facts = createPoolerFacts(pooler, server.settings, open)
  const openOrReset = (): Promise<Opened<pg.Client>> =>
    open().catch((error: unknown) => {
      facts.resetFacts()
      throw error
    })
  return async () => {
    const { client, pooled } = await openOrReset()
    try {
      if (pooled) return createConnection(client, described, await facts.of(client))
      await prepare?.(client)
      return createConnection(client, described)
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
  }
}
