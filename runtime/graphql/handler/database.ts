import type pg from 'pg'
import type { Exchange, RequestContext, RunExchange } from '../../contract/execution.ts'
import { createRoleSettings } from '../../db/check/role-settings.ts'
import { createRunOnConnection, type TransactionResult } from '../../db/check/transaction.ts'
import { findPooler, PoolerFault, poolerFault } from '../../db/connect/pooler.ts'
import { queryOn, type Query } from '../../db/connect/session.ts'
import {
  extensionSchema,
  ownSettings,
  startupSettings,
  usualLockTimeout,
  type SettingPairs,
} from '../../db/connect/startup.ts'
import { throwConnecting } from '../../db/failures/classify.ts'
import { settingsOn } from '../../db/pool/backend-settings.ts'
import { endClient } from '../../db/pool/connections.ts'
import { createCancellations, type Cancellations } from '../../db/pool/cancel.ts'
import { endedBy, mustDestroy, runWith, endedUnanswered, type RunOnce } from '../../db/pool/run.ts'
import { createConnection, type Connection, type Pooled } from '../../db/wire/exchange.ts'
import { createObjectPool } from './object-pool.ts'

/** Requests on connections of the caller: each transaction sets what it needs, whatever their settings are. */

export interface HandlerDatabase {
  readonly run: RunExchange
  /** Runs our own statements as the login role. Rejects with DatabaseFailure. */
  readonly query: Query
  /** Rejects with PoolerFault if requests would fail through a pooler in front of the server. */
  readonly checkPooler: () => Promise<void>
  readonly close: () => void
}

export interface HandlerDatabaseOptions {
  readonly connect: () => Promise<pg.Client>
  /** Served schemas, in order: they become the search path. */
  readonly schemas: readonly string[]
  /** The number of simultaneous connections of requests, if kept; one more is for our own statements. */
  readonly connections: number
  /** False: connections are used once, and no request waits for the connection or work of another. */
  readonly keepsConnections: boolean
  /** The statement timeout in milliseconds, unless the role has its own limit. */
  readonly statementTimeoutMs: number
}

/** Requests beyond this number are refused immediately: each waiting one holds its memory. */
const mostWaiting = 200

export function openHandlerDatabase(options: HandlerDatabaseOptions): HandlerDatabase {
  const { schemas, connections, keepsConnections: keeps, statementTimeoutMs } = options
  const connect = (): Promise<pg.Client> => options.connect().catch(throwConnecting)
  const requestSettings = {
    ...startupSettings([...schemas, extensionSchema], statementTimeoutMs),
    lock_timeout: String(usualLockTimeout),
  }
  const pooledOn = createPooled(Object.entries(requestSettings))
  const requests = createObjectPool<Connection>({
    make: async () => {
      const client = watched(await connect())
      try {
        return createConnection(client, null, await pooledOn(client))
      } catch (error) {
        endClient(client)
        throw error
      }
    },
    end: ({ client }) => endClient(client),
    isGood: ({ client }) => !client.connection.stream.destroyed,
    most: connections,
    waiting: mostWaiting,
    keeps,
  })
  const ownPairs = Object.entries(ownSettings(['pg_catalog'], statementTimeoutMs))
  const own = createObjectPool<pg.Client>({
    make: async () => watched(await connect()),
    end: endClient,
    isGood: (client) => !client.connection.stream.destroyed,
    most: 1,
    waiting: mostWaiting,
    keeps,
  })
  const query: Query = (text, values) => own.use((client) => queryOn(client, ownPairs)(text, values))
  const settings = createRoleSettings({
    query,
    inherited: [],
    ownTimeZone: false,
    now: () => performance.now(),
    alone: !keeps,
  })
  const runOnConnection = createRunOnConnection()
  // A process that a pooler names does not belong to the server, so its id is never used to terminate one.
  const cancellations = createCancellations(() => Promise.resolve())
  const once: RunOnce = async (exchange, context) => {
    const ofRole = await settings.of(exchange.caller.role)
    return requests.use(async (connection) => {
      if (context?.aborted === true) return endedUnanswered('gone')
      const result = await untilAborted(cancellations, connection, exchange, context, (resolve) =>
        runOnConnection(connection, exchange, ofRole, null, resolve),
      )
      if (mustDestroy(exchange, result)) connection.client.connection.stream.destroy()
      return result
    }, context)
  }
  return {
    run: runWith(once, false),
    query,
    checkPooler: async () => {
      const fault = poolerFault(
        'auto',
        await findPooler(async () => ({ client: watched(await connect()), pooled: true })),
      )
      if (fault !== null) throw new PoolerFault(fault)
    },
    close: () => {
      requests.close()
      own.close()
    },
  }
}

/**
 * The result of an exchange, which is cancelled in Postgres if the client disconnects. Resolves when no cancellation is
 * in progress. Writes continue: a commit may be in progress.
 */
async function untilAborted(
  cancellations: Cancellations,
  connection: Connection,
  exchange: Exchange,
  context: RequestContext | undefined,
  run: (settle: (result: TransactionResult) => void) => void,
): Promise<TransactionResult> {
  if (context === undefined || !exchange.readOnly) return new Promise(run)
  const ended: Promise<void>[] = []
  context.onAbort = () => void ended.push(cancellations.end(connection, 'gone'))
  const result = await new Promise(run)
  context.onAbort = null
  await Promise.all(ended)
  return ended.length === 0 ? result : endedBy('gone', exchange, result)
}

/** A pooler may be in front of the server; one without prepared statements is detected by that. */
function createPooled(settings: SettingPairs): (client: pg.Client) => Promise<Pooled> {
  let keepsNames = true
  let found: SettingPairs | null = null
  return async (client) => {
    found ??= await settingsOn(client, settings).catch(throwConnecting)
    return { settings: found, keepsNames: () => keepsNames, lostName: () => void (keepsNames = false) }
  }
}

/** A connection that ends while idle is not lent again; without a listener the process would end. */
function watched(client: pg.Client): pg.Client {
  client.on('error', () => undefined)
  return client
}
