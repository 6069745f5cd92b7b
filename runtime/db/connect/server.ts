import { userInfo } from 'node:os'
import pg from 'pg'
import { sqlstateOf } from '../failures/classify.ts'
import { encryptionsOf, type Encryption } from './encryption.ts'
import { parametersOf, type ConnectEnvironment } from './parameters.ts'
import { optionsText, pairsOf, type SettingPairs, type StartupSettings } from './startup.ts'

/** Where connections go, as a URL and the environment name it, and how they are encrypted. */
export interface Server {
  /**
   * Connects with the encryption that served last, or else with each that the mode allows. Rejects with what `connect`
   * rejects with.
   */
  readonly connect: <T>(connect: (config: pg.ClientConfig) => Promise<T>) => Promise<T>
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
  const { host, port, user, password, dbname, options, application_name = 'catalograph', sslnegotiation } = parameters
  const allOptions = [optionsText(settings), ...(options === undefined ? [] : [options])].join(' ')
  const config = {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port: Number(port) }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(dbname !== undefined && { database: dbname }),
    options: allOptions,
    application_name,
  }
  // A socket of the file system is never encrypted.
  const encryptions = host?.startsWith('/') === true ? [false as const] : encryptionsOf(parameters, environment)
  const configWith = (ssl: Encryption): pg.ClientConfig =>
    ({ ...config, ssl, ...(ssl !== false && sslnegotiation !== undefined && { sslnegotiation }) }) as pg.ClientConfig
  let served: Encryption | null = null
  const connectWith = async <T>(ssl: Encryption, connect: (config: pg.ClientConfig) => Promise<T>): Promise<T> => {
    const connected = await connect(configWith(ssl))
    served = ssl
    return connected
  }
  return {
    settings: [['application_name', application_name], ['client_encoding', 'UTF8'], ...pairsOf(allOptions)],
    connect: async (connect) => {
      const order = served === null ? encryptions : [served, ...encryptions.filter((one) => one !== served)]
      let failure: unknown
      for (const ssl of order) {
        try {
          return await connectWith(ssl, connect)
        } catch (error) {
          if (!isOtherKind(error)) throw error
          failure = error
        }
      }
      throw failure
    },
  }
}

/** The role that connections of the URL log in as: where nothing names one, that of the system's user. */
export const loginOf = (url: string, environment: ConnectEnvironment = process.env): string =>
  parametersOf(url, environment)['user'] ?? userInfo().username

/** A connected client. Rejects with what pg rejects with; the connection is closed then. */
export const openClient = (server: Server, config: pg.ClientConfig = {}): Promise<pg.Client> =>
  server.connect(async (target) => {
    const client = new pg.Client({ ...target, ...config })
    // Whoever uses the connection learns that it died; without a listener the process would end.
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      client.end().catch(() => undefined)
      throw error
    }
  })
