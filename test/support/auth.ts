import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SupabaseClient, type SupabaseClientOptions } from '@supabase/supabase-js'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { liveTriggersBy } from '../../compiler/following/serving/live-triggers.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { authOwner } from '../../runtime/auth/schema/auth-schema.ts'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import type { AuthSettingName } from '../../runtime/auth/settings/setting-keys.ts'
import { setSetting } from '../../runtime/auth/settings/store.ts'
import { openStatements, type RunStatement } from '../../runtime/db/pool/statements.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import type { LogEvent } from '../../runtime/settings/log/events.ts'
import { createService } from '../../compiler/additions/service.ts'
import { runServer } from '../../runtime/main.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { createDatabase, type Major, type TestDatabase } from './database.ts'
import { checkDescribed } from './described.ts'

/** A whole server on a port of its own, on a database of its own, as an application meets it. */
export interface AuthServer {
  readonly url: string
  readonly db: TestDatabase
  readonly secret: string
  readonly anon: string
  readonly serviceRole: string
  readonly events: readonly LogEvent[]
  /** A client as an application makes it, which keeps its session in memory unless its options say otherwise. */
  readonly client: (auth?: ClientAuth) => SupabaseClient
  /** A call to /auth/v1 with the anon key, unless the headers say otherwise. */
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
  /** Changes settings as the owner's tools do, and waits until every process has seen it. */
  readonly set: (texts: SettingTexts) => Promise<void>
  /** Links and codes of the mails to an address, newest first. */
  readonly mails: (
    address: string,
  ) => Promise<readonly { readonly kind: string; readonly url: string; readonly code: string }[]>
  /** Resolves when every mail that was asked for is made: those of /recover, /otp and /resend come after the answer. */
  readonly settled: () => Promise<void>
  /** Another process on the same database, as far as its clients can see, with other settings where some are given. */
  readonly another: (settings?: Partial<ServerSettings>) => Promise<Listening>
  readonly stop: () => Promise<void>
}

export type SettingTexts = Readonly<Partial<Record<AuthSettingName, string>>>

export interface CallOptions {
  /** Sent as JSON; a string goes as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Access token of anyone who calls. */
  readonly token?: string
  /** The newer shape of errors. */
  readonly version?: '2024-01-01'
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Tests look into answers of any shape
  readonly body: any
}

export interface AuthServerOptions {
  /** Run as the superuser before the tables of auth are made. */
  readonly before?: string
  /** Run as the superuser once everything is prepared. */
  readonly sql?: string
  readonly major?: Major
  /** The database has a server to itself and no tables of auth: anyone who enables it makes them first. */
  readonly unprepared?: true
  /** Auth is enabled with these on top of a site URL; null leaves it as a project begins. */
  readonly settings?: SettingTexts | null
  /** A provider of our own in place of Google. */
  readonly googleIssuer?: string
  /** Mail server; without one mails stay in the outbox. */
  readonly smtpUrl?: string
  /** Passwords are hashed at the cost that users meet; else at `hashCost`. */
  readonly fullHashing?: true
  /** Port at which auth reaches the database, where that is not the server's own. */
  readonly authPort?: (port: number) => Promise<number>
}

/** Of every project in tests. */
export const secret = 'a secret that has more than thirty-two characters'
const keptMs = 550

/** Of bcrypt, where a test is not about hashing itself: a hash of full cost keeps a core busy for 60 ms. */
export const hashCost = 5

export const siteUrl = 'https://app.example.com'

/** Auth is on. Tests that are not about limits come from one address and fail on purpose. */
export const enabled: SettingTexts = {
  auth_enabled: 'on',
  site_url: siteUrl,
  limit_guests: '0',
  limit_sign_up: '0',
  limit_token: '0',
  limit_verify: '0',
  limit_factor: '0',
  ban_threshold: '0',
}

/** The header with the address that a call comes from; without it the socket does. */
export const addressHeader = 'x-test-address'

export async function startAuthServer(options: AuthServerOptions = {}): Promise<AuthServer> {
  const db = await databaseOf(options)
  if (options.sql !== undefined) await db.query(options.sql)
  const owner = openStatements({
    url: db.ownerUrl,
    schemas: ['auth'],
    role: authOwner,
    poolSize: 1,
    statementTimeout: 0,
  })
  if (options.settings !== null) await storeSettings(owner.run, { ...enabled, ...options.settings })
  const events: LogEvent[] = []
  const first = await listen(db, events, options)
  const { anon, serviceRole } = await projectKeys(secret)
  return {
    url: first.url,
    db,
    secret,
    anon,
    serviceRole,
    events,
    client: (auth) => createTestClient(first.url, anon, auth),
    call: (method, path, given) => call(first.url, anon, method, path, given),
    set: async (texts) => {
      await storeSettings(owner.run, texts)
      await sleep(keptMs)
    },
    mails: (address) => mailsTo(db, address),
    settled: () => settled(db),
    another: (settings) => listen(db, events, options, settings),
    stop: async () => {
      await first.stop()
      await owner.close()
      await db.drop()
    },
  }
}

async function databaseOf({ before, major, unprepared }: AuthServerOptions): Promise<TestDatabase> {
  const more = major === undefined ? {} : { major }
  if (unprepared === true) return createDatabase({ prepare: true, isolated: true, ...more })
  if (before === undefined) return createDatabase({ prepare: 'auth', ...more })
  const db = await createDatabase({ prepare: true, sql: before, ...more })
  await migrateAuth({ url: db.ownerUrl })
  return db
}

/** Changes settings as the owner's tools do. */
export async function storeSettings(run: RunStatement, texts: SettingTexts): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    const parsed = await setSetting(run, name as AuthSettingName, text)
    if (parsed.kind === 'problem') throw new Error(`${name} ${parsed.problem}`)
  }
}

class NoSocket {
  constructor() {
    throw new Error('There is no realtime here.')
  }
}

type ClientOptions = SupabaseClientOptions<'public'>
export type ClientAuth = NonNullable<ClientOptions['auth']>

/** The client's realtime part is never used, and Node 20 has nothing that it could use. */
export const noRealtime: NonNullable<ClientOptions['realtime']> = {
  transport: NoSocket as unknown as NonNullable<NonNullable<ClientOptions['realtime']>['transport']>,
}

/** A client that keeps its session in memory, unless its options say otherwise, and refreshes on demand. */
export function createTestClient(url: string, key: string, auth: ClientAuth = {}): SupabaseClient {
  const quiet = { autoRefreshToken: false, persistSession: false }
  return createClient(url, key, { auth: { ...quiet, ...auth }, realtime: noRealtime })
}

/** A call to any server's /auth/v1. */
export async function call(
  url: string,
  anon: string,
  method: string,
  path: string,
  { body, headers = {}, token, version }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(`${url}/auth/v1${path}`, {
    method,
    redirect: 'manual',
    headers: {
      apikey: anon,
      'content-type': 'application/json;charset=UTF-8',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(version !== undefined && { 'x-supabase-api-version': version }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
  checkDescribed('/auth/v1', method, path, answer)
  return answer
}

/** A call to a server's /admin/v1 with the service_role key, unless another is given; a string goes as it is. */
export async function askOwner(
  { url, serviceRole }: Pick<AuthServer, 'url' | 'serviceRole'>,
  method: string,
  path: string,
  body?: unknown,
  key = serviceRole,
): Promise<Answer> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== '' && { apikey: key, authorization: `Bearer ${key}` }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const answer = { status: response.status, headers: response.headers, body: (await response.json()) as any }
  checkDescribed('/admin/v1', method, path, answer)
  return answer
}

export interface Listening {
  readonly url: string
  readonly stop: () => Promise<void>
}

async function listen(
  db: TestDatabase,
  events: LogEvent[],
  options: AuthServerOptions,
  changed: Partial<ServerSettings> = {},
): Promise<Listening> {
  const log = (event: LogEvent): void => {
    events.push(event)
    if (event.kind === 'request-failed') console.error(event.detail)
  }
  const settings = { ...serverSettings(db, options), databaseAuthUrl: await authUrl(db, options), ...changed }
  const database = openServerDatabase(settings)
  const prepare = createPrepareOnce({ ownerUrl: db.ownerUrl, loginUrl: db.url, log })
  const triggers = liveTriggersBy(db.ownerUrl)
  const source = createFollowedSource({ schemas: settings.schemas, query: database.query, prepare, triggers, log })
  let ask: (reason: string) => void = () => undefined
  const stopRequested = new Promise<string>((resolve) => {
    ask = resolve
  })
  let ready: (url: string) => void = () => undefined
  const listening = new Promise<string>((resolve) => {
    ready = resolve
  })
  const whole = runServer({
    settings,
    database,
    source,
    createService,
    log,
    onReady: ready,
    listensEarly: true,
    stopRequested,
    ...(options.fullHashing !== true && { hashCost }),
  })
  const url = await Promise.race([listening, whole.then(() => Promise.reject(new Error('The server has ended.')))])
  const stop = (): Promise<void> => {
    ask('the test')
    return whole
  }
  return { url, stop }
}

async function authUrl({ ownerUrl }: TestDatabase, { authPort }: AuthServerOptions): Promise<string> {
  const url = new URL(ownerUrl)
  if (authPort !== undefined) url.port = String(await authPort(Number(url.port)))
  return url.href
}

function serverSettings(db: TestDatabase, { googleIssuer, smtpUrl }: AuthServerOptions): ServerSettings {
  const read = readSettings({ LOG_LEVEL: 'debug' })
  if (read.kind === 'invalid') throw new Error(read.problems.join())
  const urls = { databaseUrl: db.url, databaseOwnerUrl: db.ownerUrl }
  return {
    ...read.settings,
    ...urls,
    jwtSecret: secret,
    port: 0,
    addressHeader,
    shutdownGraceMs: 1_000,
    smtpUrl: smtpUrl ?? null,
    ...(googleIssuer !== undefined && { googleIssuer }),
  }
}

/** Resolves when every mail that was asked for is made. */
async function settled(db: Pick<TestDatabase, 'query'>): Promise<void> {
  for (const until = Date.now() + 15_000; Date.now() < until; await sleep(10)) {
    if ((await db.query('select from catalograph_auth.mail_requests limit 1')).rowCount === 0) return
  }
  throw new Error('A mail that was asked for is still not made.')
}

/** Mails of the outbox to an address, newest first. */
export async function mailsTo(db: Pick<TestDatabase, 'query'>, address: string): ReturnType<AuthServer['mails']> {
  await settled(db)
  const { rows } = await db.query(
    'select kind, html from catalograph_auth.outbox where recipient = $1 order by id desc',
    [address],
  )
  return rows.map(({ kind, html }: { kind: string; html: string }) => ({
    kind,
    url: (/href="([^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&'),
    code: /\b(\d{6})\b/.exec(html.replace(/<a [^>]*>[^<]*<\/a>/g, ''))?.[1] ?? '',
  }))
}

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>
}
