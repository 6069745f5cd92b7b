import { ParameterFault, type ConnectionParameters } from './parameters.ts'

/** One of the places where a server may listen; what is left out is the usual one. */
export interface Host {
  readonly host?: string
  readonly port?: number
}

/**
 * Those that parameters list, in the order in which they are tried (PostgreSQL manual, chapter libpq, Specifying Multiple Hosts).
 * @throws ParameterFault where each host needs a port of its own and has none
 */
export const hostsOf = ({ host = '', port = '' }: ConnectionParameters): readonly Host[] => {
  const [names, ports] = [host.split(','), port.split(',')]
  if (ports.length !== 1 && ports.length !== names.length)
    throw new ParameterFault(`${ports.length} ports are given for ${names.length} hosts`)
  // Of a list nothing is left to the environment, which may hold another one.
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

/** As faults name it. */
export const hostName = ({ host = 'localhost', port = 5432 }: Host): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
