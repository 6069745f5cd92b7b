import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { hostUrls } from '../../lib/host-urls.ts'

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
  return {
    ...surrounding,
    ...(service !== undefined && ofService(service, environment)),
    ...ownValues,
  }
}
