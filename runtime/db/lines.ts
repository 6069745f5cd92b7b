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
/** How much later than they say idling and waiting may end. */
const sweepEveryMs = 1_000
const lookEveryMs = 50

/** One who waits for a line. */
interface Borrower {
  readonly take: (line: Line | Promise<Line>) => void
}

interface Idle {
  readonly line: Line
  /** The monotonic clock, in milliseconds. */
  readonly since: number
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

/** Lines that nobody uses, until somebody does or they were idle for too long. */
interface IdleLines {
  readonly keep: (line: Line) => void
  /** The one that was kept last. */
  readonly take: () => Line | undefined
  readonly forget: (line: Line) => void
  readonly endAll: () => void
}

const createIdleLines = (): IdleLines => {
  // Taken from the end, so those that were idle for longest stand first.
  const idle: Idle[] = []
  let sweeping: NodeJS.Timeout | null = null
  const endFirst = (count: number): void => {
    for (const { line } of idle.splice(0, count)) end(line)
    if (idle.length > 0 || sweeping === null) return
    clearInterval(sweeping)
    sweeping = null
  }
  const sweep = (): void => {
    const now = performance.now()
    const fresh = idle.findIndex(({ since }) => now - since < idleMs)
    endFirst(fresh === -1 ? idle.length : fresh)
  }
  return {
    keep: (line) => {
      idle.push({ line, since: performance.now() })
      sweeping ??= setInterval(sweep, sweepEveryMs).unref()
    },
    take: () => idle.pop()?.line,
    forget: (line) => {
      const at = idle.findIndex((one) => one.line === line)
      if (at !== -1) idle.splice(at, 1)
    },
    endAll: () => endFirst(idle.length),
  }
}

export const createLines = (options: LinesOptions): Lines => {
  const idle = createIdleLines()
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
        idle.forget(line)
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
      return idle.take() ?? (open < options.max ? make() : wait())
    },
    giveBack: (line, spoilt) => {
      // Its end makes room for another.
      if (line.client.connection.stream.destroyed) return
      const [next] = waiting
      if (spoilt) end(line)
      else if (next !== undefined) next.take(line)
      else if (closed !== null) end(line)
      else idle.keep(line)
    },
    close: async () => {
      const gone = new Promise<void>((resolve) => (closed = resolve))
      idle.endAll()
      if (open > 0) await gone
    },
  }
}
