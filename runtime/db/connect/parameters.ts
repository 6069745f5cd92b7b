import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hostUrls } from '../../lib/host-urls.ts'
import type pg from 'pg'
import { didYouMean } from '../../lib/text.ts'

/**
 * Connection parameters by their names in libpq (PostgreSQL manual, chapter libpq: 34.1.2 parameters, 34.15
 * environment, 34.17 service file). The URL takes precedence, then the service of the URL or of PGSERVICE, then the
 * environment.
 */
export type ConnectionParameters = Readonly<Record<string, string>>

export type ConnectEnvironment = Readonly<Record<string, string | undefined>>

/** The parameters name no server: a missing service, an unknown mode, an unreadable file. */
export class ParameterFault extends Error {
  override readonly name = 'ParameterFault'
}

/** Environment variable -> parameter. */
const variables: Readonly<Record<string, string>> = {
  PGHOST: 'host',
  PGPORT: 'port',
  PGDATABASE: 'dbname',
  PGUSER: 'user',
  PGPASSWORD: 'password',
  PGOPTIONS: 'options',
  PGSERVICE: 'service',
  PGSSLMODE: 'sslmode',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
  PGSSLCRL: 'sslcrl',
  PGSSLNEGOTIATION: 'sslnegotiation',
  PGTARGETSESSIONATTRS: 'target_session_attrs',
}

/** An empty value counts as absent, as in libpq. */
const given = (entries: Iterable<readonly [string, string | undefined]>): ConnectionParameters =>
  Object.fromEntries([...entries].filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''))

const ofEnvironment = (environment: ConnectEnvironment): ConnectionParameters =>
  given(Object.entries(variables).map(([variable, parameter]) => [parameter, environment[variable]]))

const ofUrl = (url: string): ConnectionParameters => {
  const urls = hostUrls(url).map((one) => new URL(one))
  const [{ username, password, pathname, searchParams } = new URL(url)] = urls
  const parts: readonly (readonly [string, string])[] = [
    ['host', urls.map(({ hostname }) => decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')).join()],
    ['port', urls.some(({ port }) => port !== '') ? urls.map(({ port }) => port).join() : ''],
    ['user', decodeURIComponent(username)],
    ['password', decodeURIComponent(password)],
    ['dbname', decodeURIComponent(pathname.slice(1))],
  ]
  const { ssl, ...named } = given([...parts, ...searchParams])
  // Two spellings of JDBC and node-postgres; libpq accepts the first.
  const mode = ssl === 'true' ? 'require' : ssl
  return mode === undefined ? named : { sslmode: mode, ...named }
}

export const homeOf = (environment: ConnectEnvironment): string => environment['HOME'] ?? homedir()

const readIfThere = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new ParameterFault(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** The service files: the user's own, then the system's. */
const serviceFiles = (environment: ConnectEnvironment): readonly string[] => [
  environment['PGSERVICEFILE'] ?? join(homeOf(environment), '.pg_service.conf'),
  join(environment['PGSYSCONFDIR'] ?? '/etc/postgresql-common', 'pg_service.conf'),
]

/**
 * The parameters of one section. A general INI reader is not suitable: libpq takes a value literally up to the end of
 * its line, with quotes, semicolons and backslashes.
 */
const ofSection = (text: string, service: string): ConnectionParameters | null => {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const start = lines.indexOf(`[${service}]`)
  if (start === -1) return null
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('['))
  const pairs = rest
    .slice(0, end === -1 ? undefined : end)
    .filter((line) => line.includes('=') && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()] as const)
  return given(pairs)
}

const ofService = (service: string, environment: ConnectEnvironment): ConnectionParameters => {
  const files = serviceFiles(environment)
  for (const file of files) {
    const text = readIfThere(file)
    const found = text === null ? null : ofSection(text, service)
    if (found !== null) return found
  }
  throw new ParameterFault(`the service ${service} is described neither in ${files.join(' nor in ')}`)
}

/** @throws ParameterFault */
export const parametersOf = (url: string, environment: ConnectEnvironment): ConnectionParameters => {
  const [ownValues, surrounding] = [ofUrl(url), ofEnvironment(environment)]
  const service = ownValues['service'] ?? surrounding['service']
  return { ...surrounding, ...(service !== undefined && ofService(service, environment)), ...ownValues }
}

/** An address on which a server may listen; omitted members have libpq's defaults. */
export interface Host {
  readonly host?: string
  readonly port?: number
}

/**
 * The hosts of the parameters, in the order in which they are tried (PostgreSQL manual, chapter libpq, Specifying
 * Multiple Hosts).
 * @throws ParameterFault if each host needs its own port and one has none
 */
export const hostsOf = ({ host = '', port = '' }: ConnectionParameters): readonly Host[] => {
  const [names, ports] = [host.split(','), port.split(',')]
  if (ports.length !== 1 && ports.length !== names.length)
    throw new ParameterFault(`${ports.length} ports are given for ${names.length} hosts`)
  // With a list, no default comes from the environment, which may hold another list.
  const usual = names.length === 1 ? {} : { host: 'localhost', port: 5432 }
  return names.map((name, index) => {
    const own = ports.length === 1 ? port : ports[index]
    return {
      ...usual,
      ...(name !== '' && { host: name }),
      ...(own !== undefined && own !== '' && { port: Number(own) }),
    }
  })
}

export const hostName = ({ host = 'localhost', port = 5432 }: Host): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** Selects the intended server among those that answer (PostgreSQL manual, chapter libpq, target_session_attrs). */

interface SessionFacts {
  readonly isStandby: boolean
  readonly isReadOnly: boolean
}

const factsSql = `select pg_catalog.pg_is_in_recovery() as "isStandby",
  pg_catalog.current_setting('transaction_read_only') = 'on' as "isReadOnly"`

/** A condition on a session, and the message if it is not met. */
interface Demand {
  readonly holds: (facts: SessionFacts) => boolean
  readonly otherwise: string
}

const readWrite: Demand = { holds: ({ isReadOnly }) => !isReadOnly, otherwise: 'the session is read-only' }
const readOnly: Demand = { holds: ({ isReadOnly }) => isReadOnly, otherwise: 'the session is not read-only' }
const primary: Demand = { holds: ({ isStandby }) => !isStandby, otherwise: 'the server is a standby' }
const standby: Demand = { holds: ({ isStandby }) => isStandby, otherwise: 'the server is not a standby' }

/** target_session_attrs -> condition; if no host meets it, the next one. Null: none. */
const targets = {
  any: [null],
  'read-write': [readWrite],
  'read-only': [readOnly],
  primary: [primary],
  standby: [standby],
  'prefer-standby': [standby, null],
} as const satisfies Readonly<Record<string, readonly (Demand | null)[]>>

type Target = keyof typeof targets

/** @throws ParameterFault */
export const targetOf = ({ target_session_attrs: target = 'any' }: ConnectionParameters): Target => {
  if (Object.hasOwn(targets, target)) return target as Target
  const names = Object.keys(targets)
  throw new ParameterFault(`target_session_attrs=${target} is none of ${names.join(', ')}${didYouMean(target, names)}`)
}

/** Rejects if a connection leads to a server that does not meet the condition. */
export type CheckTarget = (client: pg.ClientBase) => Promise<void>

const checkOf =
  (demand: Demand, target: Target): CheckTarget =>
  async (client) => {
    const { rows } = await client.query<SessionFacts>(factsSql)
    if (rows[0] === undefined || !demand.holds(rows[0]))
      throw new Error(`${demand.otherwise}, and target_session_attrs is ${target}`)
  }

/** One check for each round over all hosts; null: any host that answers is accepted. */
export const checksOf = (target: Target): readonly (CheckTarget | null)[] =>
  targets[target].map((demand) => demand && checkOf(demand, target))
