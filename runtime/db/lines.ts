import pg from 'pg'
import { createDeadlines } from '../lib/deadlines.ts'
import { createBackoff } from './backoff.ts'
import { classifyConnecting } from './classify.ts'
import { createLine, type Described, type Line } from './exchange.ts'
import { createSocket } from './socket.ts'

/** Connections that are lent to one borrower at a time, made when they are needed and kept for the next. */
export interface Lines {
  /** At once where one is idle. Fails with DatabaseFailure of kind unavailable. */
  readonly borrow: () => Line | Promise<Line>
  /** A spoilt line is closed: it must serve nobody else. */
  readonly giveBack: (line: Line, spoilt: boolean) => void
  /** Waits for what is lent, then closes every connection. */
  readonly close: () => Promise<void>
}

export interface LinesOptions {
  readonly config: pg.ClientConfig
  readonly max: number
  /** Milliseconds to wait for a connection, be it a new one or one that others hold. */
  readonly connectTimeout: number
  readonly described: Described | null
  /** What a new connection runs before anything else. */
  readonly prepare?: (client: pg.Client) => Promise<unknown>
}

const idleMs = 60_000
/** How much later than they say waiting and idling may end. */
const lookEveryMs = 50

/** One who waits for a line. */
interface Borrower {
  readonly take: (line: Line | Promise<Line>) => void
}

interface Idle {
  readonly line: Line
  /** Forgets when it would have been closed. */
  readonly leave: () => void
}

const connect = async ({ config, connectTimeout, described, prepare }: LinesOptions): Promise<Line> => {
  const client = new pg.Client({
    ...config,
    stream: createSocket,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
  })
  // Whoever works on it is told; without a listener the process would end.
  client.on('error', () => undefined)
  try {
    await client.connect()
    await prepare?.(client)
    return createLine(client, described)
  } catch (error) {
    client.end().catch(() => undefined)
    throw error
  }
}

/** Says goodbye; what comes of it is told by the connection's `end`. */
const end = ({ client }: Line): void => void client.end().catch(() => undefined)

export const createLines = (options: LinesOptions): Lines => {
  const idle: Idle[] = []
  const waiting = new Set<Borrower>()
  const backoff = createBackoff(() => performance.now())
  const setDeadline = createDeadlines(lookEveryMs)
  /** Connections that are there or being made. */
  let open = 0
  let closed: (() => void) | null = null

  const make = async (): Promise<Line> => {
    if (backoff.waiting()) throw classifyConnecting(new Error('Recent connections failed.'))
    open += 1
    try {
      const line = await connect(options)
      backoff.succeeded()
      line.client.connection.once('end', () => {
        dropIdle(line)
        left()
      })
      return line
    } catch (error) {
      backoff.failed()
      left()
      throw classifyConnecting(error)
    }
  }
  const left = (): void => {
    open -= 1
    for (const borrower of waiting) if (open < options.max) borrower.take(make())
    if (open === 0) closed?.()
  }
  const dropIdle = (line: Line): void => {
    const at = idle.findIndex((one) => one.line === line)
    if (at !== -1) for (const { leave } of idle.splice(at, 1)) leave()
  }
  const keepIdle = (line: Line): void => {
    const leave = setDeadline(idleMs, () => {
      dropIdle(line)
      end(line)
    })
    idle.push({ line, leave })
  }
  const wait = (): Promise<Line> =>
    new Promise((resolve, reject) => {
      const borrower: Borrower = {
        take: (line) => {
          waiting.delete(borrower)
          forget()
          resolve(line)
        },
      }
      const forget = setDeadline(options.connectTimeout, () => {
        waiting.delete(borrower)
        // Waiting in vain for a connection that others hold says nothing about the server.
        reject(classifyConnecting(new Error('Every connection stayed in use.')))
      })
      waiting.add(borrower)
    })

  return {
    borrow: () => {
      if (closed !== null) throw classifyConnecting(new Error('The connections are closed.'))
      const last = idle.pop()
      if (last === undefined) return open < options.max ? make() : wait()
      last.leave()
      return last.line
    },
    giveBack: (line, spoilt) => {
      // Its end makes room for another.
      if (line.client.connection.stream.destroyed) return
      const [next] = waiting
      if (spoilt) end(line)
      else if (next !== undefined) next.take(line)
      else if (closed !== null) end(line)
      else keepIdle(line)
    },
    close: async () => {
      const gone = new Promise<void>((resolve) => (closed = resolve))
      for (const { line, leave } of idle.splice(0)) {
        leave()
        end(line)
      }
      if (open > 0) await gone
    },
  }
}
