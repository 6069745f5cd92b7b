import type pg from 'pg'
import type { Exchange, RequestContext, RunExchange } from '../../contract/execution.ts'
import { createRoleSettings } from '../../db/check/role-settings.ts'
import { createRunOnConnection, type TransactionResult } from '../../db/check/transaction.ts'
import { findPooler, PoolerFault, poolerFault } from '../../db/connect/pooler.ts'
import { queryOn, type Query } from '../../db/connect/session.ts'
import { extensionSchema, ownSettings, startupSettings, type SettingPairs } from '../../db/connect/startup.ts'
import { classifyConnecting } from '../../db/failures/classify.ts'
import { settingsOn } from '../../db/pool/backend-settings.ts'
import { createEndings, type Endings } from '../../db/pool/cancel.ts'
import { endedBy, isSpoilt, runWith, unended, type RunOnce } from '../../db/pool/run.ts'
import { createConnection, type Connection, type Pooled } from '../../db/wire/exchange.ts'
import { createLending } from './lending.ts'

/** Requests on connections that the caller makes: whatever is there, each transaction sets what it relies on for itself. */

export interface HandlerDatabase {
  readonly run: RunExchange
  /** Runs statements of our own as the login role. Rejects with DatabaseFailure. */
  readonly query: Query
  /** Rejects with PoolerFault where a pooler is before the server through which requests would fail. */
  readonly checkPooler: () => Promise<void>
  readonly close: () => void
}

export interface HandlerDatabaseOptions {
  /** A client that is connected as the login role. */
  readonly connect: () => Promise<pg.Client>
  /** Served schemas, in order: they become the search path. */
  readonly schemas: readonly string[]
  /** How many connections requests have at once, where they are kept; one more is for our own statements. */
  readonly connections: number
  /** False: no connection outlives what it was made for, and nobody waits for what another request has or does. */
  readonly keepsConnections: boolean
  /** Milliseconds that Postgres gives a statement, unless the role has a limit of its own. */
  readonly statementTimeoutMs: number
}

/** Requests beyond this number are refused at once: each that waits holds its memory. */
const mostWaiting = 200

export function openHandlerDatabase(options: HandlerDatabaseOptions): HandlerDatabase {
  const { schemas, connections, keepsConnections: keeps, statementTimeoutMs } = options
  const connect = (): Promise<pg.Client> =>
    options.connect().catch((error: unknown) => {
      throw classifyConnecting(error)
    })
  const pooledOn = createPooled(Object.entries(startupSettings([...schemas, extensionSchema], statementTimeoutMs)))
  const requests = createLending<Connection>({
    make: async () => {
      const client = watched(await connect())
      try {
        return createConnection(client, null, await pooledOn(client))
      } catch (error) {
        end(client)
        throw error
      }
    },
    end: ({ client }) => end(client),
    isGood: ({ client }) => !client.connection.stream.destroyed,
    most: connections,
    waiting: mostWaiting,
    keeps,
  })
  const ownPairs = Object.entries(ownSettings(['pg_catalog'], statementTimeoutMs))
  const own = createLending<pg.Client>({
    make: async () => watched(await connect()),
    end,
    isGood: (client) => !client.connection.stream.destroyed,
    most: 1,
    waiting: mostWaiting,
    keeps,
  })
  const query: Query = (text, values) => own.lend((client) => queryOn(client, ownPairs)(text, values))
  const settings = createRoleSettings({
    query,
    ownTimeout: true,
    ownTimeZone: false,
    now: () => performance.now(),
    alone: !keeps,
  })
  const runOnConnection = createRunOnConnection()
  // A process that a pooler names is none of the server's, so that nothing is terminated by its number.
  const endings = createEndings(() => Promise.resolve())
  const once: RunOnce = async (exchange, context) => {
    const ofRole = await settings.of(exchange.caller.role)
    return requests.lend(async (connection) => {
      if (context?.gone === true) return unended('gone')
      const result = await untilGone(endings, connection, exchange, context, (resolve) =>
        runOnConnection(connection, exchange, ofRole, null, resolve),
      )
      if (isSpoilt(exchange, result)) connection.client.connection.stream.destroy()
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
 * What came of an exchange, which is cancelled in Postgres when the client leaves. Resolves when no cancellation is under way any
 * more. What writes goes on: it may be about to commit.
 */
async function untilGone(
  endings: Endings,
  connection: Connection,
  exchange: Exchange,
  context: RequestContext | undefined,
  run: (settle: (result: TransactionResult) => void) => void,
): Promise<TransactionResult> {
  if (context === undefined || !exchange.readOnly) return new Promise(run)
  const ended: Promise<void>[] = []
  context.onGone = () => void ended.push(endings.end(connection, 'gone'))
  const result = await new Promise(run)
  context.onGone = null
  await Promise.all(ended)
  return ended.length === 0 ? result : endedBy('gone', exchange, result)
}

/** A pooler may be before the server, and one that keeps no prepared statements is found out by that. */
function createPooled(settings: SettingPairs): (client: pg.Client) => Promise<Pooled> {
  let keepsNames = true
  let found: SettingPairs | null = null
  return async (client) => {
    found ??= await settingsOn(client, settings).catch((error: unknown) => {
      throw classifyConnecting(error)
    })
    return { settings: found, keepsNames: () => keepsNames, lostName: () => void (keepsNames = false) }
  }
}

/** One that ends while nobody uses it is not lent any more; without a listener the process would end. */
function watched(client: pg.Client): pg.Client {
  client.on('error', () => undefined)
  return client
}

const end = (client: pg.Client): void => void client.end().catch(() => undefined)
