import pg from 'pg'
import type { Socket } from 'node:net'
// In workers the global ones make numbers.
import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../wire/exchange.ts'
import type { DatabaseFailureKind } from '../failures/failures.ts'
import { readOn } from '../wire/messages.ts'
import { within } from '../../lib/timers.ts'

/** Ending what a connection works on, from outside (PostgreSQL manual 55.2.8, Canceling Requests in Progress). */

/** Why a request ends before Postgres has ended it. */
export type EndCause = Extract<DatabaseFailureKind, 'gone' | 'deadline' | 'stopping'>

/** Members of a pg client beyond its types. */
interface CancelKey {
  readonly host: string
  readonly port: number
  readonly processID: number
  readonly secretKey: number
  /** As the connection itself was made. */
  readonly ssl: NonNullable<pg.ConnectionConfig['ssl']>
  readonly sslNegotiation: string
}

const keyOf = (client: pg.Client): CancelKey => client as unknown as CancelKey

interface CancelConnection extends pg.Connection {
  readonly connect: (portOrPath: number | string, host?: string) => void
  readonly requestSsl: () => void
  readonly cancel: (processID: number, secretKey: number) => void
}

/** A server that takes the connection and does not close it is waited for no longer. */
const cancelPatienceMs = 3_000

/**
 * For so long it stays open: PgBouncer 1.18 ends, with all its clients, when it hands on a cancellation whose sender has
 * left (its issue 846). It gives up a server that does not answer after 15 s (server_connect_timeout).
 */
const cancelStaysMs = 20_000

/**
 * Asks the server to cancel what a connection runs. Resolves when the server has closed the connection that this takes: by
 * then the signal was sent, so what is asked of the cancelled connection afterwards is not hit by it. Resolves as well after
 * 3 s without that. Never rejects.
 */
const sendCancel = (client: pg.Client): Promise<void> =>
  new Promise((resolve) => {
    const { host, port, processID, secretKey, ssl, sslNegotiation } = keyOf(client)
    const connection = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as CancelConnection
    const stream = connection.stream as Socket
    const patience = setTimeout(resolve, cancelPatienceMs)
    const stay = setTimeout(() => stream.destroy(), cancelStaysMs).unref()
    const ask = (): void => connection.cancel(processID, secretKey)
    connection.on('connect', () => {
      if (!ssl) ask()
      else if (sslNegotiation !== 'direct') connection.requestSsl()
    })
    connection.on('sslconnect', ask)
    connection.on('error', () => stream.destroy())
    connection.on('end', () => {
      clearTimeout(patience)
      clearTimeout(stay)
      resolve()
    })
    // A process that ends does not wait for it.
    stream.unref()
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, addressOf(client, host))
  })

/** A name may stand for several servers: the one that the connection goes to. TLS compares the name with a certificate. */
const addressOf = (client: pg.Client, host: string): string =>
  keyOf(client).ssl ? host : ((client.connection.stream as Socket).remoteAddress ?? host)

/** A cancel that comes between two statements of one request is lost (manual 55.2.8), so it is sent again, less and less often. */
const againAfterMs = 25

/** How long the last message of a backend may take, which says that it rolled back. */
const lastWordsMs = 100

/** A server that is silent does not end a backend either; the connection is given up nevertheless. */
const terminationMs = 2_000

/** How long a function may go on that catches its cancellation, before its backend is ended. */
const patienceMs: Readonly<Record<EndCause, number>> = { gone: 2_000, deadline: 5_000, stopping: 300 }

export interface Cancellations {
  /**
   * Ends what a connection works on now. Resolves when it has ended and no cancellation is under way any more: only then may
   * the connection be released. Never rejects.
   */
  readonly end: (connection: Connection, cause: EndCause) => Promise<void>
}

/** @param terminate ends a backend by its number, over another connection */
export const createCancellations = (terminate: (processId: number) => Promise<unknown>): Cancellations => ({
  end: async (connection, cause) => {
    const { inFlight: flight, client } = connection
    const runs = (): boolean => connection.inFlight !== null && connection.inFlight === flight
    const until = performance.now() + patienceMs[cause]
    for (let pause = againAfterMs; runs() && performance.now() < until; pause *= 2) {
      // While the answer is not read, Postgres waits to send and does not look for a cancellation (answer-memory.ts).
      readOn(client.connection.stream)
      await sendCancel(client)
      if (runs()) await sleep(Math.min(pause, until - performance.now()))
    }
    if (!runs()) return
    if (connection.pooled === null) {
      await within(
        terminationMs,
        terminate(keyOf(client).processID).catch(() => undefined),
      )
      await sleep(lastWordsMs)
    }
    // A pooler ends the backend of a client that leaves in the middle of a transaction.
    client.connection.stream.destroy()
  },
})
