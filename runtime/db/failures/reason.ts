import { DatabaseFailure, type DatabaseFailureKind } from './failures.ts'
import { HostsFault } from './hosts-fault.ts'

/**
 * The reason of a failure, for the operator: the log and the commands. Callers get the sentence of the failure instead,
 * which names no host, file or setting.
 */

/** Code of Node or OpenSSL -> advice. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; check host and port',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'the host does not answer; check host, port and firewall',
  ENOENT: 'no server has its socket in that folder',
  ERR_TLS_CERT_ALTNAME_INVALID: 'with sslmode=verify-ca the name is not compared',
  CERT_HAS_EXPIRED: 'the server needs a new certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'name it in sslrootcert, or use sslmode=require, which does not verify it',
  SELF_SIGNED_CERT_IN_CHAIN: 'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_GET_ISSUER_CERT: 'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'name its authority in sslrootcert, or use sslmode=require, which does not verify it',
  '28P01': 'check the user and the password of the URL',
  '3D000': 'check the name of the database in the URL',
  '28000': 'check the user of the URL, and pg_hba.conf of the server',
  '53300': 'lower DB_POOL_SIZE, or raise max_connections of the server',
}

/** Messages of pg without a code, and of poolers, which use one code for many. */
const messages: Readonly<Record<string, string>> = {
  'The server does not support SSL connections':
    'use sslmode=prefer or sslmode=disable, or switch ssl on in postgresql.conf',
  'timeout expired': 'the server did not answer in time; check host, port and firewall',
  'Connection terminated due to connection timeout': 'the server did not answer in time; check host, port and firewall',
  'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string':
    'the URL has no password, and the server asks for one',
  // PgBouncer 1.18 and 1.25.
  'transaction blocks not allowed in statement pooling mode': 'set pool_mode of the pooler to transaction',
}

interface CodedError extends Error {
  readonly code?: string
}

/** A name with several addresses fails with one error for each (Node manual, net.connect). */
const firstOf = (error: Error): CodedError => {
  if (!(error instanceof AggregateError)) return error
  const errors = error.errors as readonly unknown[]
  const [first] = errors
  return first instanceof Error ? first : error
}

const notThere: ReadonlySet<DatabaseFailureKind> = new Set(['unavailable', 'connections'])

const told = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { message, code = '' } = firstOf(error)
  return message === '' ? code : message
}

const adviceOn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const { message, code = '' } = firstOf(error)
  return advice[code] ?? messages[message]
}

const toldOfHosts = ({ tried }: HostsFault): string =>
  [...tried].map(([host, error]) => `${host}: ${advised(error)}`).join('; ')

const advised = (error: unknown): string => {
  if (error instanceof HostsFault) return toldOfHosts(error)
  const wanted = adviceOn(error)
  return wanted === undefined ? told(error) : `${told(error)}: ${wanted}`
}

/** The sentence of an error, with advice if the cause is known; for several hosts, one for each. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof DatabaseFailure)) return told(error)
  const cause = error.cause ?? error
  return notThere.has(error.kind) ? advised(cause) : told(cause)
}
