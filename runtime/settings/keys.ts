import {
  anyText,
  baseAddress,
  flag,
  shareOrFlag,
  headerName,
  issuerList,
  mailbox,
  metricsPlace,
  dateOrTime,
  nameList,
  oneOf,
  originList,
  pathPrefix,
  postgresUrl,
  postgresUrls,
  smtpUrl,
  textOfAtLeast,
  wholeNumber,
  workerCount,
} from './parsers.ts'
import type { Parser } from './parsers.ts'

/** One setting: its source, its meaning, its parser, and its default. */
export interface SettingKey<T> {
  /** Name of the environment variable. */
  readonly env: string
  readonly help: string
  /** True keeps the value out of every output. */
  readonly secret: boolean
  readonly parse: Parser<T>
  /** Null: no default. */
  readonly fallback: T | null
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

const poolerSettings = ['auto', 'none', 'statements', 'no-statements'] as const
/** The pooler in front of Postgres: detected for each connection, or set, with or without prepared statements. */
export type PoolerSetting = (typeof poolerSettings)[number]

const mebibyte = 1_048_576

/** All settings. To add one, add a row and pass it to its user. */
export const settingKeys = {
  databaseUrl: {
    env: 'DATABASE_URL',
    help: 'Connection URL of the login role that requests run under; it needs membership in the roles of the tokens.',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  },
  databaseOwnerUrl: {
    env: 'DATABASE_OWNER_URL',
    help: 'Connection URL of a role that may prepare the database; only used to prepare and compile.',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  },
  databaseAuthUrl: {
    env: 'DATABASE_AUTH_URL',
    help: 'Connection URL of the role that owns the tables of auth; DATABASE_OWNER_URL where it is not set.',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  },
  databaseListenUrl: {
    env: 'DATABASE_LISTEN_URL',
    help: 'Connection URL for reports of changes, for the role of DATABASE_URL: to the primary, without poolers. Default: DATABASE_URL.',
    secret: true,
    parse: postgresUrl,
    fallback: null,
  },
  replicaUrls: {
    env: 'DATABASE_REPLICA_URLS',
    help: 'Connection URLs of replicas, separated by commas, each of one server, for the role of DATABASE_URL.',
    secret: true,
    parse: postgresUrls,
    fallback: null,
  },
  replicaMaxStalenessMs: {
    env: 'REPLICA_MAX_STALENESS_MS',
    help: 'How old answers of replicas may be, in milliseconds; a replica that is further behind answers none.',
    secret: false,
    parse: wholeNumber(500, 60_000),
    fallback: 5_000,
  },
  schemas: {
    env: 'DB_SCHEMAS',
    help: 'Schemas to serve, separated by commas; the first one wins where names collide.',
    secret: false,
    parse: nameList,
    fallback: ['public'],
  },
  poolSize: {
    env: 'DB_POOL_SIZE',
    help: 'Connections that callers share; from 4 on no caller holds all of them, and service_role has two more.',
    secret: false,
    parse: wholeNumber(1, 1000),
    fallback: 8,
  },
  authPoolSize: {
    env: 'AUTH_POOL_SIZE',
    help: 'Connections that only auth uses.',
    secret: false,
    parse: wholeNumber(1, 1000),
    fallback: 6,
  },
  pooler: {
    env: 'DATABASE_POOLER',
    help: `The pooler in front of Postgres: ${poolerSettings.join(', ')}; a pooler keeps prepared statements or does not.`,
    secret: false,
    parse: oneOf(poolerSettings),
    fallback: 'auto',
  },
  statementTimeoutMs: {
    env: 'STATEMENT_TIMEOUT_MS',
    help: "Limit of a statement in milliseconds; 0 disables it. By default the login role's own statement_timeout, or 30000.",
    secret: false,
    parse: wholeNumber(0, 2_147_483_647),
    fallback: null,
  },
  lockTimeoutMs: {
    env: 'LOCK_TIMEOUT_MS',
    help: "How long a statement waits for a lock, in milliseconds; 0 is no limit. By default the login role's own lock_timeout, or 2000.",
    secret: false,
    parse: wholeNumber(0, 2_147_483_647),
    fallback: null,
  },
  requestTimeoutMs: {
    env: 'REQUEST_TIMEOUT_MS',
    help: 'Limit of a GraphQL request in milliseconds from its arrival to its commit; 0 disables it.',
    secret: false,
    parse: wholeNumber(0, 2_147_483_647),
    fallback: 45_000,
  },
  jwtSecret: {
    env: 'JWT_SECRET',
    help: 'Secret that project keys and access tokens are signed with (HS256); 32 characters or more.',
    secret: true,
    parse: textOfAtLeast(32),
    fallback: null,
  },
  jwtSecretPrevious: {
    env: 'JWT_SECRET_PREVIOUS',
    help: 'The secret before a rotation: keys and tokens that it signed are accepted until JWT_SECRET_PREVIOUS_UNTIL.',
    secret: true,
    parse: textOfAtLeast(32),
    fallback: null,
  },
  jwtSecretPreviousUntil: {
    env: 'JWT_SECRET_PREVIOUS_UNTIL',
    help: 'When JWT_SECRET_PREVIOUS ends: a date, or a time with its zone, such as 2027-01-31T12:00Z.',
    secret: false,
    parse: dateOrTime,
    fallback: null,
  },
  workers: {
    env: 'WORKERS',
    help: 'Processes that answer requests; a further process compiles for them. auto: one for each processor.',
    secret: false,
    parse: workerCount,
    fallback: 1,
  },
  host: {
    env: 'HOST',
    help: 'Address to listen on; 0.0.0.0 for every interface.',
    secret: false,
    parse: anyText,
    fallback: '127.0.0.1',
  },
  port: {
    env: 'PORT',
    help: 'Port to listen on; 0 takes a free one.',
    secret: false,
    parse: wholeNumber(0, 65_535),
    fallback: 54_321,
  },
  baseUrl: {
    env: 'BASE_URL',
    help: 'Public address of this project, used in tokens and mails; by default the address it listens on.',
    secret: false,
    parse: baseAddress,
    fallback: null,
  },
  smtpUrl: {
    env: 'SMTP_URL',
    help: 'Connection URL of the mail server; without it mails are kept in the database.',
    secret: true,
    parse: smtpUrl,
    fallback: null,
  },
  mailFrom: {
    env: 'MAIL_FROM',
    help: 'Sender of mails; by default no-reply at the host of the project.',
    secret: false,
    parse: mailbox,
    fallback: null,
  },
  addressHeader: {
    env: 'CLIENT_ADDRESS_HEADER',
    help: "Header in which a trusted proxy sends the client's address; without it the address of the connection counts.",
    secret: false,
    parse: headerName,
    fallback: null,
  },
  googleIssuer: {
    env: 'GOOGLE_ISSUER',
    help: 'Issuer that sign-in with Google trusts; change it only to test with your own provider.',
    secret: false,
    parse: baseAddress,
    fallback: 'https://accounts.google.com',
  },
  corsOrigins: {
    env: 'CORS_ORIGINS',
    help: 'Origins whose pages may read answers, separated by commas; without it those of every origin may.',
    secret: false,
    parse: originList,
    fallback: null,
  },
  pathPrefix: {
    env: 'PATH_PREFIX',
    help: 'Path that every address of this service begins with, for a proxy that does not take it off.',
    secret: false,
    parse: pathPrefix,
    fallback: null,
  },
  rateLimit: {
    env: 'RATE_LIMIT',
    help: 'GraphQL requests a minute of one user, or of one address for anon and guests; 0: any number.',
    secret: false,
    parse: wholeNumber(0, 1_000_000),
    fallback: 0,
  },
  liveStreams: {
    env: 'LIVE_STREAMS',
    help: 'Streams of live queries that are open at most, of all callers together; a caller has at most 100.',
    secret: false,
    parse: wholeNumber(0, 1_000_000),
    fallback: 20_000,
  },
  trustedIssuers: {
    env: 'TRUSTED_ISSUERS',
    help: 'Issuers whose tokens GraphQL accepts too: [{"issuer": URL, "audience": TEXT, "roles": [NAMES], "jwks": URL}].',
    secret: false,
    parse: issuerList,
    fallback: null,
  },
  bodyLimitBytes: {
    env: 'BODY_LIMIT_BYTES',
    help: 'Largest request body in bytes.',
    secret: false,
    parse: wholeNumber(1024, 1024 * mebibyte),
    fallback: mebibyte,
  },
  writeTimeoutMs: {
    env: 'WRITE_TIMEOUT_MS',
    help: 'Milliseconds without progress after which the connection of a client that does not read its answer is closed.',
    secret: false,
    parse: wholeNumber(100, 600_000),
    fallback: 10_000,
  },
  shutdownDrainMs: {
    env: 'SHUTDOWN_DRAIN_MS',
    help: 'Milliseconds after SIGTERM during which /readyz answers 503 and requests are still served.',
    secret: false,
    parse: wholeNumber(0, 600_000),
    fallback: 0,
  },
  shutdownGraceMs: {
    env: 'SHUTDOWN_GRACE_MS',
    help: 'Milliseconds that running requests have to finish after SIGTERM.',
    secret: false,
    parse: wholeNumber(0, 600_000),
    fallback: 10_000,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    help: `Least level of the log on standard error: ${logLevels.join(', ')}.`,
    secret: false,
    parse: oneOf(logLevels),
    fallback: 'info',
  },
  accessLog: {
    env: 'ACCESS_LOG',
    help: 'on writes a line for each HTTP request, at the level info.',
    secret: false,
    parse: flag,
    fallback: false,
  },
  slowRequestMs: {
    env: 'SLOW_REQUEST_MS',
    help: 'GraphQL requests that take longer, in milliseconds, are logged with the hash of their document; 0: none.',
    secret: false,
    parse: wholeNumber(0, 600_000),
    fallback: 0,
  },
  docs: {
    env: 'DOCS',
    help: 'on serves the pages of the documentation at /docs, and their list at /llms.txt; start does unless it is off.',
    secret: false,
    parse: flag,
    fallback: null,
  },
  metrics: {
    env: 'METRICS',
    help: 'on serves GET /metrics to the service_role key; HOST:PORT serves it on an address of its own, without a key.',
    secret: false,
    parse: metricsPlace,
    fallback: null,
  },
  tracing: {
    env: 'TRACING',
    help: 'on, or a share of the requests such as 0.1, makes spans by the API of OpenTelemetry, for an SDK that is loaded with NODE_OPTIONS.',
    secret: false,
    parse: shareOrFlag,
    fallback: 0,
  },
  dataFolder: {
    env: 'CATALOGRAPH_DATA',
    help: 'Folder of the embedded Postgres and of its secrets.',
    secret: false,
    parse: anyText,
    fallback: '.catalograph',
  },
  embeddedPort: {
    env: 'EMBEDDED_PORT',
    help: 'Port of the embedded Postgres on 127.0.0.1; by default that of its last start, where it is free.',
    secret: false,
    parse: wholeNumber(1, 65_535),
    fallback: null,
  },
} as const satisfies Readonly<Record<string, SettingKey<unknown>>>

export type SettingName = keyof typeof settingKeys

type ValueOf<K> = K extends { readonly parse: Parser<infer T>; readonly fallback: infer F }
  ? F extends null
    ? T | null
    : T
  : never

/** Every setting as a value; null if it is absent and has no default. */
export type Settings = { readonly [N in SettingName]: ValueOf<(typeof settingKeys)[N]> }

/** The table's rows without the types of their values, for code that treats all settings alike. */
export const settingRows: readonly (readonly [SettingName, SettingKey<unknown>])[] = Object.entries(settingKeys).map(
  ([name, key]) => [name as SettingName, key],
)
