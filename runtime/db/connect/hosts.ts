import { ParameterFault, type ConnectionParameters } from './parameters.ts'

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

/** The name of a host in error messages. */
export const hostName = ({ host = 'localhost', port = 5432 }: Host): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
