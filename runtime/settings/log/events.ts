/** Every event that this process reports to its operator, with level and sentence. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The number of tables and views that a role sees. */
export interface VisibleRelations {
  readonly role: string
  readonly relations: number
}

interface EventRow<E> {
  readonly level: LogLevel
  readonly say: (event: E) => string
}

const row = <E extends object>(level: LogLevel, say: (event: Readonly<E>) => string): EventRow<Readonly<E>> => ({
  level,
  say,
})

const eventTable = {
  listening: row<{ url: string }>('info', ({ url }) => `listening on ${url}`),
  stopping: row<{ signal: string }>('info', ({ signal }) => `stopping on ${signal}`),
  draining: row<{ drainMs: number }>('info', ({ drainMs }) => `not ready, and serving for another ${drainMs} ms`),
  'stop-forced': row<{ graceMs: number }>(
    'warn',
    ({ graceMs }) => `requests still ran after ${graceMs} ms and were cancelled`,
  ),
  stopped: row('info', () => 'stopped'),
  workers: row<{ count: number }>('info', ({ count }) => `${count} workers serve; this process compiles for them`),
  'worker-ended': row<{ worker: number; how: string; retryInMs: number }>(
    'error',
    ({ worker, how, retryInMs }) => `worker ${worker} ended ${how}; a new worker starts in ${retryInMs} ms`,
  ),
  reloading: row('info', () => 'replacing the workers, one after the other'),
  reloaded: row('info', () => 'every worker is replaced'),
  'reload-failed': row('error', () => 'a new worker did not start, so the present workers stay; see its log'),
  'not-ready': row<{ attempt: number; retryInMs: number; reason: string }>(
    'warn',
    ({ reason, retryInMs }) => `not ready, trying again in ${retryInMs} ms: ${reason}`,
  ),
  'database-prepared': row<{ followed: boolean }>('info', ({ followed }) =>
    followed
      ? 'the database is prepared and schema changes are followed'
      : 'the database is prepared; without event triggers schema changes take effect up to a second late',
  ),
  'owner-needed': row<{ statements: number }>(
    'warn',
    ({ statements }) =>
      `an owner of the database must run ${statements} statements: catalograph prepare --sql prints them`,
  ),
  'auth-upgraded': row<{ name: string }>('info', ({ name }) => `the tables of auth are brought up to date: ${name}`),
  'auth-not-upgraded': row<{ reason: string }>(
    'error',
    ({ reason }) => `the tables of auth cannot be brought up to date: ${reason}`,
  ),
  'pooler-found': row<{ keepsStatements: boolean }>(
    'info',
    ({ keepsStatements }) =>
      `a pooler in front of the database keeps ${keepsStatements ? '' : 'no '}prepared statements`,
  ),
  'revision-ready': row<{ revision: string; ms: number }>(
    'info',
    ({ revision, ms }) => `schema ${revision} ready after ${Math.round(ms)} ms`,
  ),
  'documents-outdated': row<{ documents: number; missing: string }>(
    'error',
    ({ documents, missing }) =>
      `${documents} compiled documents cannot be answered until they are compiled again: the database lacks ${missing}`,
  ),
  'revision-failed': row<{ reason: string }>('error', ({ reason }) => `the schema could not be compiled: ${reason}`),
  'schema-remark': row<{ text: string }>('warn', ({ text }) => text),
  'schema-remarks': row<{ errors: number; warnings: number }>(
    'warn',
    ({ errors, warnings }) => `${errors} errors and ${warnings} warnings on the schema: catalograph report shows them`,
  ),
  'schema-summary': row<{ relations: number; visible: readonly VisibleRelations[] }>(
    'info',
    ({ relations, visible }) =>
      `${relations} tables and views; visible: ${visible.map(({ role, relations: count }) => `${count} to ${role}`).join(', ')}`,
  ),
  'nothing-visible': row<{ grants: string }>(
    'warn',
    ({ grants }) => `no role sees a table or function, so the API is empty; to publish what is there, run: ${grants}`,
  ),
  'role-setting-ignored': row<{ name: string; problem: string }>(
    'warn',
    ({ name, problem }) => `the setting ${name} is ignored, since it ${problem}`,
  ),
  'secret-rotated': row<{ until: string }>(
    'warn',
    ({ until }) => `keys and tokens of JWT_SECRET_PREVIOUS are accepted until ${until}`,
  ),
  'mails-kept': row(
    'warn',
    () => 'no SMTP_URL is set: mails of auth are kept and not sent; read them with: catalograph mails',
  ),
  'replica-out': row<{ replica: number; fault: string; reason: string | null }>(
    'warn',
    ({ replica, fault, reason }) =>
      `replica ${replica} is left out, since it is ${fault}${reason === null ? '' : `: ${reason}`}`,
  ),
  'replica-back': row<{ replica: number }>('info', ({ replica }) => `replica ${replica} answers requests`),
  'shard-fault': row<{ fault: string }>('warn', ({ fault }) => fault),
  'shards-back': row('info', () => 'each role of the API reaches every worker node again'),
  'database-away': row<{ reason: string }>('error', ({ reason }) => `the database is not available: ${reason}`),
  'database-back': row<{ awayMs: number }>('info', ({ awayMs }) => `the database answers again, after ${awayMs} ms`),
  'database-disk-full': row<{ reason: string }>('error', ({ reason }) => `the disk of the database is full: ${reason}`),
  'slow-request': row<{
    requestId: string
    operation: string
    role: string
    ms: number
    /** Milliseconds of each phase. */
    phases: Readonly<Record<string, number>>
    /** SHA-256 of the document. */
    hash: string
  }>(
    'warn',
    ({ operation, role, ms, phases, hash, requestId }) =>
      `slow: ${operation} as ${role} took ${ms} ms (${Object.entries(phases)
        .map(([phase, time]) => `${phase} ${time}`)
        .join(', ')}) ${hash} ${requestId}`,
  ),
  request: row<{
    requestId: string
    method: string
    path: string
    status: number
    ms: number
    address: string | null
    /** Of an admitted GraphQL request. */
    role?: string
    operation?: string
  }>(
    'info',
    ({ method, path, status, ms, address, role, operation, requestId }) =>
      `${method} ${path} ${status} ${ms} ms ${role === undefined ? '' : `${operation} as ${role} `}from ${address} ${requestId}`,
  ),
  'mail-failed': row<{ detail: string }>('error', ({ detail }) => `a requested mail could not be sent: ${detail}`),
  'request-failed': row<{ requestId: string; detail: string }>(
    'error',
    ({ requestId, detail }) => `request ${requestId} failed: ${detail}`,
  ),
}

type EventTable = typeof eventTable

export type LogEventKind = keyof EventTable

type EventOf<Kind extends LogEventKind> =
  EventTable[Kind] extends EventRow<infer E> ? { readonly kind: Kind } & E : never

export type LogEvent = { readonly [Kind in LogEventKind]: EventOf<Kind> }[LogEventKind]

/** Receives an event; it never fails and never waits. */
export type Log = (event: LogEvent) => void

export function levelOf(kind: LogEventKind): LogLevel {
  return eventTable[kind].level
}

export function sentenceOf(event: LogEvent): string {
  // The table's type pairs each kind with its own event; TypeScript cannot follow the pairing through an index.
  const row = eventTable[event.kind] as EventRow<LogEvent>
  return row.say(event)
}
