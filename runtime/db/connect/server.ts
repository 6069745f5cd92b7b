import { userInfo } from 'node:os'
import pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import { HostsFault } from '../failures/failures.ts'
import { encryptionsOf, type Encryption } from './encryption.ts'
import {
  hostName,
  hostsOf,
  type Host,
  parametersOf,
  type ConnectEnvironment,
  checksOf,
  targetOf,
  type CheckTarget,
} from './parameters.ts'
import { optionsText, pairsOf, type SettingPairs, type StartupSettings } from './startup.ts'

export interface Opening<C extends pg.ClientBase> {
  readonly connect: (config: pg.ClientConfig) => Promise<C>
  readonly end: (client: C) => void
}

/** A server as a URL and the environment describe it, with the encryption of its connections. */
export interface Server {
  /**
   * Connects to the host that served last, or else to each host of the URL in turn, until one meets
   * target_session_attrs. Rejects with the errors of `connect`, or with HostsFault if there are several hosts.
   */
  readonly connect: <C extends pg.ClientBase>(opening: Opening<C>) => Promise<C>
  /** The startup settings, for transactions that must set them (session.ts). */
  readonly settings: SettingPairs
}

/** The message of pg if the server does not encrypt, and the codes of OpenSSL and Node if the handshake fails. */
const noEncryption = 'The server does not support SSL connections'
const isHandshake = (error: Error & { readonly code?: string }): boolean =>
  error.code?.startsWith('ERR_SSL_') === true || error.message === noEncryption

/** invalid_authorization_specification: pg_hba.conf has only lines for the other kind of connection. */
const isOtherKind = (error: unknown): boolean =>
  sqlstateOf(error) === '28000' || (error instanceof Error && isHandshake(error))

/** A server that refuses the login or database is the intended one; a starting or silent one is unavailable. */
const isElsewhere = (error: unknown): boolean => sqlstateOf(error)?.startsWith('57P') ?? true

/** One of the hosts: its name, and how clients are created with the encryption that served last. */
interface Reachable {
  readonly name: string
  readonly reach: <C>(connect: (config: pg.ClientConfig) => Promise<C>) => Promise<C>
}

/** @param checks one for each round over all hosts; null: any host that answers is accepted */
const connectTo = (hosts: readonly Reachable[], checks: readonly (CheckTarget | null)[]): Server['connect'] => {
  const attempt = attemptsOf(hosts)
  /** A pool lends its clients again. */
  const known = new WeakSet<pg.ClientBase>()
  return async ({ connect, end }) => {
    const tried = new Map<string, unknown>()
    const open = async ({ name, reach }: Reachable, check: CheckTarget | null) => {
      try {
        const client = await reach(connect)
        if (!known.has(client)) await check?.(client).catch((error: unknown) => rejectEnding(error, () => end(client)))
        known.add(client)
        return client
      } catch (error) {
        tried.set(name, error)
        throw error
      }
    }
    try {
      return await inTurn(checks, (check) => attempt((host) => open(host, check), isElsewhere), isElsewhere)
    } catch (error) {
      throw isElsewhere(error) && hosts.length > 1 ? new HostsFault(tried) : error
    }
  }
}

const rejectEnding = (error: unknown, end: () => void): never => {
  end()
  throw error
}

/**
 * The owner's `options` follow ours and so take precedence. This opens no connection.
 * @param environment for parameters that the URL does not give
 * @throws ParameterFault
 */
export const serverOf = (
  url: string,
  settings: StartupSettings,
  environment: ConnectEnvironment = process.env,
): Server => {
  const parameters = parametersOf(url, environment)
  const { user, password, dbname, options, application_name = 'catalograph', sslnegotiation } = parameters
  const allOptions = [optionsText(settings), ...(options === undefined ? [] : [options])].join(' ')
  const config = {
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(dbname !== undefined && { database: dbname }),
    options: allOptions,
    application_name,
  }
  const negotiation = sslnegotiation !== undefined && { sslnegotiation }
  const configWith = (host: Host, ssl: Encryption): pg.ClientConfig =>
    ({ ...config, ...host, ssl, ...(ssl !== false && negotiation) }) as pg.ClientConfig
  const hosts = hostsOf(parameters).map((host): Reachable => {
    // A socket of the file system is never encrypted.
    const isSocket = host.host?.startsWith('/') === true
    const attempt = attemptsOf(isSocket ? [false as const] : encryptionsOf(parameters, environment))
    const reach: Reachable['reach'] = (connect) => attempt((ssl) => connect(configWith(host, ssl)), isOtherKind)
    return { name: hostName(host), reach }
  })
  return {
    settings: [['application_name', application_name], ['client_encoding', 'UTF8'], ...pairsOf(allOptions)],
    connect: connectTo(hosts, checksOf(targetOf(parameters))),
  }
}

/** The login role of the URL's connections; the default is the name of the system's user. */
export const loginOf = (url: string): string => parametersOf(url, process.env)['user'] ?? userInfo().username

/** The name of the URL's database; the default is that of the login role. */
export const databaseOf = (url: string): string => parametersOf(url, process.env)['dbname'] ?? loginOf(url)

const connected = async (config: pg.ClientConfig): Promise<pg.Client> => {
  const client = new pg.Client(config)
  // The user of the connection sees its failure; without a listener the error would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    endQuietly(client)
    throw error
  }
}

const endQuietly = (client: pg.Client): void => void client.end().catch(() => undefined)

/** @param config options beyond the server's own */
export const openingOf = (server: Server, config: pg.ClientConfig = {}): Opening<pg.Client> => ({
  connect: (without) =>
    server.connect({ connect: (target) => connected({ ...target, ...config, ...without }), end: endQuietly }),
  end: endQuietly,
})

/** A connected client. Rejects with the errors of pg, or with HostsFault; the connection is closed in that case. */
export const openClient = (server: Server): Promise<pg.Client> => openingOf(server).connect({})

/** True if the next attempt may be made after this failure. */
type GoesOn = (error: unknown) => boolean

/** Resolves with the first success; rejects with the last failure, or with the first for which `goesOn` is false. */
const inTurn = async <A, T>(all: readonly A[], work: (attempt: A) => Promise<T>, goesOn: GoesOn): Promise<T> => {
  let failure: unknown
  for (const attempt of all) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!goesOn(error)) throw error
      failure = error
    }
  }
  throw failure
}

/** Makes the same attempts on every call, beginning with the one that succeeded last. */
type Attempts<A> = <T>(work: (attempt: A) => Promise<T>, goesOn: GoesOn) => Promise<T>

const attemptsOf = <A>(all: readonly A[]): Attempts<A> => {
  let order = all
  return (work, goesOn) =>
    inTurn(
      order,
      async (attempt) => {
        const result = await work(attempt)
        order = [attempt, ...all.filter((one) => one !== attempt)]
        return result
      },
      goesOn,
    )
}
