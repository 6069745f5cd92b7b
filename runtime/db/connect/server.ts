import { userInfo } from 'node:os'
import pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import { HostsFault } from '../failures/hosts-fault.ts'
import { attemptsOf, inTurn } from './attempts.ts'
import { encryptionsOf, type Encryption } from './encryption.ts'
import { hostName, hostsOf, type Host } from './hosts.ts'
import { parametersOf, type ConnectEnvironment } from './parameters.ts'
import { checksOf, targetOf, type CheckTarget } from './target.ts'
import { optionsText, pairsOf, type SettingPairs, type StartupSettings } from './startup.ts'

/** How clients are made and ended. */
export interface Opening<C extends pg.ClientBase> {
  readonly connect: (config: pg.ClientConfig) => Promise<C>
  readonly end: (client: C) => void
}

/** Where connections go, as a URL and the environment name it, and how they are encrypted. */
export interface Server {
  /**
   * Connects to the host that served last, or else to each in turn that the URL names, until one is what
   * target_session_attrs demands. Rejects with what `connect` rejects with, or with HostsFault where there are several.
   */
  readonly connect: <C extends pg.ClientBase>(opening: Opening<C>) => Promise<C>
  /** What its connections begin with, for transactions that have to set it themselves (route.ts). */
  readonly settings: SettingPairs
}

/** What pg says where the server does not encrypt, and what OpenSSL and Node do where the two find no way to. */
const noEncryption = 'The server does not support SSL connections'
const isHandshake = (error: Error & { readonly code?: string }): boolean =>
  error.code?.startsWith('ERR_SSL_') === true || error.message === noEncryption

/** invalid_authorization_specification: pg_hba.conf has lines for connections of the other kind only. */
const isOtherKind = (error: unknown): boolean =>
  sqlstateOf(error) === '28000' || (error instanceof Error && isHandshake(error))

/** Who refuses the login or the database is the server that was meant; who starts, stops or is silent is not there. */
const isElsewhere = (error: unknown): boolean => sqlstateOf(error)?.startsWith('57P') ?? true

/** One of the hosts: how it is named, and how clients of it are made, with the encryption that served last. */
interface Reachable {
  readonly name: string
  readonly reach: <C>(connect: (config: pg.ClientConfig) => Promise<C>) => Promise<C>
}

/** @param checks one for each round over all hosts; null: any host that answers serves */
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
 * What the owner gives in `options` stands after ours, so the owner has the last word. Nothing connects yet.
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

/** The role that connections of the URL log in as: where nothing names one, that of the system's user. */
export const loginOf = (url: string, environment: ConnectEnvironment = process.env): string =>
  parametersOf(url, environment)['user'] ?? userInfo().username

const connected = async (config: pg.ClientConfig): Promise<pg.Client> => {
  const client = new pg.Client(config)
  // Anyone who uses the connection learns that it died; without a listener the process would end.
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

/** @param config beside the server's own */
export const openingOf = (server: Server, config: pg.ClientConfig = {}): Opening<pg.Client> => ({
  connect: (without) =>
    server.connect({ connect: (target) => connected({ ...target, ...config, ...without }), end: endQuietly }),
  end: endQuietly,
})

/** A connected client. Rejects with what pg rejects with, or with HostsFault; the connection is closed then. */
export const openClient = (server: Server): Promise<pg.Client> => openingOf(server).connect({})
