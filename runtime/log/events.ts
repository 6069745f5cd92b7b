/** Every event that this process reports to its operator, with level and words. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** How many tables and views a role sees. */
export interface VisibleRelations {
  readonly role: string
  readonly relations: number
}

export type LogEvent =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'stopping'; readonly signal: string }
  | { readonly kind: 'stop-forced'; readonly graceMs: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'workers'; readonly count: number }
  | { readonly kind: 'worker-ended'; readonly worker: number; readonly how: string; readonly retryInMs: number }
  | { readonly kind: 'reloading' }
  | { readonly kind: 'reloaded' }
  | { readonly kind: 'reload-failed' }
  | { readonly kind: 'not-ready'; readonly attempt: number; readonly retryInMs: number; readonly reason: string }
  | { readonly kind: 'database-prepared'; readonly followed: boolean }
  | { readonly kind: 'owner-needed'; readonly statements: number }
  | { readonly kind: 'pool-unshared'; readonly size: number; readonly least: number }
  | { readonly kind: 'pooler-found'; readonly keepsStatements: boolean }
  | { readonly kind: 'revision-ready'; readonly revision: string; readonly ms: number }
  | { readonly kind: 'revision-failed'; readonly reason: string }
  | { readonly kind: 'schema-remark'; readonly text: string }
  | { readonly kind: 'schema-remarks'; readonly errors: number; readonly warnings: number }
  | { readonly kind: 'schema-summary'; readonly relations: number; readonly visible: readonly VisibleRelations[] }
  | { readonly kind: 'nothing-visible'; readonly grants: string }
  | { readonly kind: 'mails-kept' }
  | { readonly kind: 'replica-out'; readonly replica: number; readonly fault: string; readonly reason: string | null }
  | { readonly kind: 'replica-back'; readonly replica: number }
  | { readonly kind: 'database-away'; readonly reason: string }
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      readonly path: string
      readonly status: number
      readonly ms: number
    }
  | {
      readonly kind: 'slow-request'
      readonly requestId: string
      readonly operation: string
      readonly role: string
      readonly ms: number
      /** Milliseconds of each phase. */
      readonly phases: Readonly<Record<string, number>>
      /** SHA-256 of the document. */
      readonly hash: string
    }
  | { readonly kind: 'mail-failed'; readonly detail: string }
  | { readonly kind: 'request-failed'; readonly requestId: string; readonly detail: string }

export type LogEventKind = LogEvent['kind']

/** What takes an event; it never fails and never waits. */
export type Log = (event: LogEvent) => void

interface EventRow<E> {
  readonly level: LogLevel
  readonly say: (event: E) => string
}

type EventTable = { readonly [K in LogEventKind]: EventRow<Extract<LogEvent, { readonly kind: K }>> }

const eventTable: EventTable = {
  listening: { level: 'info', say: ({ url }) => `listening on ${url}` },
  stopping: { level: 'info', say: ({ signal }) => `stopping on ${signal}` },
  'stop-forced': { level: 'warn', say: ({ graceMs }) => `requests still ran after ${graceMs} ms and were cancelled` },
  stopped: { level: 'info', say: () => 'stopped' },
  workers: { level: 'info', say: ({ count }) => `${count} workers serve, compiled for by this process` },
  'worker-ended': {
    level: 'error',
    say: ({ worker, how, retryInMs }) => `worker ${worker} ended ${how}; another one starts in ${retryInMs} ms`,
  },
  reloading: { level: 'info', say: () => 'replacing the workers, one after the other' },
  reloaded: { level: 'info', say: () => 'every worker is replaced' },
  'reload-failed': {
    level: 'error',
    say: () => 'a new worker did not come to serve, so those that serve stay; its own lines say why',
  },
  'not-ready': {
    level: 'warn',
    say: ({ reason, retryInMs }) => `not ready, trying again in ${retryInMs} ms: ${reason}`,
  },
  'database-prepared': {
    level: 'info',
    say: ({ followed }) =>
      followed
        ? 'the database is prepared and schema changes are followed'
        : 'the database is prepared; without event triggers schema changes take effect up to a second late',
  },
  'owner-needed': {
    level: 'warn',
    say: ({ statements }) =>
      `an owner of the database has to run ${statements} statements: catalograph prepare --sql prints them`,
  },
  'pool-unshared': {
    level: 'warn',
    say: ({ size, least }) =>
      `with DB_POOL_SIZE=${size} one caller can hold every connection; they are shared fairly from ${least} on`,
  },
  'pooler-found': {
    level: 'info',
    say: ({ keepsStatements }) =>
      `a pooler stands before the database, and keeps ${keepsStatements ? '' : 'no '}prepared statements`,
  },
  'revision-ready': { level: 'info', say: ({ revision, ms }) => `schema ${revision} ready after ${Math.round(ms)} ms` },
  'revision-failed': { level: 'error', say: ({ reason }) => `the schema could not be compiled: ${reason}` },
  'schema-remark': { level: 'warn', say: ({ text }) => text },
  'schema-remarks': {
    level: 'warn',
    say: ({ errors, warnings }) =>
      `${errors} errors and ${warnings} warnings on the schema: catalograph report shows them`,
  },
  'schema-summary': {
    level: 'info',
    say: ({ relations, visible }) =>
      `${relations} tables and views; visible: ${visible.map(({ role, relations: count }) => `${count} to ${role}`).join(', ')}`,
  },
  'nothing-visible': {
    level: 'warn',
    say: ({ grants }) =>
      `no role sees a table or function, so the API is empty; to publish what is there, run: ${grants}`,
  },
  'mails-kept': {
    level: 'warn',
    say: () => 'no SMTP_URL is set: mails of auth are kept and not sent; read them with: catalograph mails',
  },
  'replica-out': {
    level: 'warn',
    say: ({ replica, fault, reason }) =>
      `replica ${replica} is left out, since it is ${fault}${reason === null ? '' : `: ${reason}`}`,
  },
  'replica-back': { level: 'info', say: ({ replica }) => `replica ${replica} answers requests` },
  'database-away': { level: 'error', say: ({ reason }) => `the database is not available: ${reason}` },
  'slow-request': {
    level: 'warn',
    say: ({ operation, role, ms, phases, hash, requestId }) =>
      `slow: ${operation} as ${role} took ${ms} ms (${Object.entries(phases)
        .map(([phase, time]) => `${phase} ${time}`)
        .join(', ')}) ${hash} ${requestId}`,
  },
  request: {
    level: 'info',
    say: ({ method, path, status, ms, requestId }) => `${method} ${path} ${status} ${ms.toFixed(1)} ms ${requestId}`,
  },
  'mail-failed': { level: 'error', say: ({ detail }) => `a requested mail could not be sent: ${detail}` },
  'request-failed': { level: 'error', say: ({ requestId, detail }) => `request ${requestId} failed: ${detail}` },
}

export function levelOf(kind: LogEventKind): LogLevel {
  return eventTable[kind].level
}

/** The event as one sentence. */
export function sentenceOf(event: LogEvent): string {
  // The table's type pairs each kind with its own event; TypeScript cannot follow the pairing through an index.
  const row = eventTable[event.kind] as EventRow<LogEvent>
  return row.say(event)
}
