import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startProxy, type RecordingProxy } from '../recording-proxy.ts'

/** The functions of the product that one request entered, and its statements. */
export interface Path {
  /** File -> its functions. */
  readonly ran: Ran
  /** Execute and Query messages of the protocol (PostgreSQL manual 55.7). */
  readonly statements: number
  /** Sync and Query messages: after each the client waits for ReadyForQuery. */
  readonly roundTrips: number
}

export interface RanFunction {
  readonly name: string
  /** Where it begins in the file. */
  readonly at: number
  readonly calls: number
}

export type Ran = Readonly<Record<string, readonly RanFunction[]>>

export interface ObservedService {
  readonly url: string
  /** @returns what ran while `request` was answered */
  readonly pathOf: (request: () => Promise<unknown>) => Promise<Path>
  readonly stop: () => Promise<void>
}

const message = async <T>(child: ChildProcess): Promise<T> => ((await once(child, 'message')) as [T])[0]

/** Types of the messages that clients sent; each chunk holds whole messages. */
const typesIn = (chunks: readonly Buffer[]): readonly string[] =>
  chunks.flatMap((chunk) => {
    const types: string[] = []
    for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readInt32BE(at + 1))
      types.push(String.fromCharCode(chunk[at] ?? 0))
    return types
  })

const countOf = (types: readonly string[], counted: string): number =>
  types.filter((type) => counted.includes(type)).length

/** Serves a database by the built service, through a proxy that counts statements. */
export async function observeService(
  db: { readonly url: string; readonly ownerUrl: string },
  options: Readonly<Record<string, unknown>>,
): Promise<ObservedService> {
  const proxy: RecordingProxy = await startProxy(Number(new URL(db.url).port))
  const through = (url: string): string => Object.assign(new URL(url), { port: String(proxy.port) }).href
  const given = { databaseUrl: through(db.url), databaseOwnerUrl: through(db.ownerUrl), ...options }
  const program = fileURLToPath(new URL('served.mjs', import.meta.url))
  const child = fork(program, [JSON.stringify(given)], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const { port } = await message<{ readonly port: number }>(child)
  const taken = async (): Promise<Ran> => {
    child.send('take')
    return message<Ran>(child)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    pathOf: async (request) => {
      await taken()
      proxy.clear()
      await request()
      const ran = await taken()
      const types = typesIn(proxy.chunks())
      return { ran, statements: countOf(types, 'EQ'), roundTrips: countOf(types, 'SQ') }
    },
    stop: async () => {
      child.kill()
      await once(child, 'exit')
      await proxy.close()
    },
  }
}

/** Their intersection: the check of each second runs beside some requests. */
export function commonPath(paths: readonly Path[]): Path {
  const [first, ...others] = paths.map(({ ran }) => ran)
  const inAll = (file: string, { at }: RanFunction): boolean =>
    others.every((ran) => ran[file]?.some((one) => one.at === at) === true)
  const ran = Object.entries(first ?? {})
    .map(([file, functions]) => [file, functions.filter((one) => inAll(file, one))] as const)
    .filter(([, functions]) => functions.length > 0)
  const least = (figure: 'statements' | 'roundTrips'): number => Math.min(...paths.map((path) => path[figure]))
  return { ran: Object.fromEntries(ran), statements: least('statements'), roundTrips: least('roundTrips') }
}
