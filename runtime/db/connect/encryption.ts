import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { didYouMean } from '../../lib/text.ts'
import { homeOf, ParameterFault, type ConnectEnvironment, type ConnectionParameters } from './parameters.ts'

/**
 * How a connection is encrypted (PostgreSQL manual, chapter libpq, SSL Support). One thing differs: verify-full without a
 * root certificate trusts the authorities that Node ships, where libpq refuses; that is sslrootcert=system.
 */

/** False: not encrypted. */
export type Encryption = false | ConnectionOptions

/** sslmode -> the attempts, in order; the second is for a server that refuses the first. */
const modes = {
  disable: ['plain'],
  allow: ['plain', 'unverified'],
  prefer: ['unverified', 'plain'],
  require: ['unverified'],
  'verify-ca': ['authority'],
  'verify-full': ['name'],
  // As in node-postgres: a root certificate at its default path is ignored.
  'no-verify': ['unverified'],
} as const

type Mode = keyof typeof modes
type Attempt = (typeof modes)[Mode][number]

const modeOf = ({ sslmode = 'prefer' }: ConnectionParameters): Mode => {
  if (Object.hasOwn(modes, sslmode)) return sslmode as Mode
  const names = Object.keys(modes)
  throw new ParameterFault(`sslmode=${sslmode} is none of ${names.join(', ')}${didYouMean(sslmode, names)}`)
}

const read = (parameter: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ParameterFault(
      `${parameter}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    )
  }
}

/** Parameter -> the default file, used only if the parameter is not given and the file exists. */
const usualFiles: Readonly<Record<string, string>> = {
  sslrootcert: 'root.crt',
  sslcert: 'postgresql.crt',
  sslkey: 'postgresql.key',
  sslcrl: 'root.crl',
}

const fileOf = (name: string, parameters: ConnectionParameters, environment: ConnectEnvironment): string | null => {
  const named = parameters[name]
  if (named !== undefined) return named
  const usual = join(homeOf(environment), '.postgresql', usualFiles[name] ?? '')
  return existsSync(usual) ? usual : null
}

const trusted = 'system'

/** Options of the connection for every encrypted attempt: the client's certificate and key. */
const clientOptions = (
  parameters: ConnectionParameters,
  textOf: (name: string) => string | undefined,
): ConnectionOptions => {
  const [cert, key] = [textOf('sslcert'), textOf('sslkey')]
  if (cert !== undefined && key === undefined)
    throw new ParameterFault('sslcert needs the key that belongs to it: sslkey')
  const passphrase = parameters['sslpassword']
  return { ...(cert !== undefined && { cert, key }), ...(passphrase !== undefined && { passphrase }) }
}

/**
 * The attempts, in order.
 * @throws ParameterFault if a mode does not exist or a file cannot be read
 */
export const encryptionsOf = (
  parameters: ConnectionParameters,
  environment: ConnectEnvironment,
): readonly Encryption[] => {
  const mode = modeOf(parameters)
  if (mode === 'disable') return [false]
  const textOf = (name: string): string | undefined => {
    const file = fileOf(name, parameters, environment)
    return file === null ? undefined : read(name, file)
  }
  const client = clientOptions(parameters, textOf)
  const root = fileOf('sslrootcert', parameters, environment)
  const crl = textOf('sslcrl')
  const authorities = (): ConnectionOptions => ({
    ...client,
    ...(root !== null && root !== trusted && { ca: read('sslrootcert', root) }),
    ...(crl !== undefined && { crl }),
  })
  const makers: Readonly<Record<Attempt, () => Encryption>> = {
    plain: () => false,
    unverified: () => ({ ...client, rejectUnauthorized: false }),
    authority: () => {
      if (root === null || root === trusted) {
        throw new ParameterFault(
          `sslmode=${mode} needs sslrootcert, the file of the authority that issued the certificate`,
        )
      }
      return { ...authorities(), checkServerIdentity: () => undefined }
    },
    name: authorities,
  }
  // With a root certificate, `require` means `verify-ca`.
  const attempts: readonly Attempt[] = mode === 'require' && root !== null ? ['authority'] : modes[mode]
  return attempts.map((attempt) => makers[attempt]())
}
