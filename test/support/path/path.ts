import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startProxy, type RecordingProxy } from '../recording-proxy.ts'

/** What one request ran of the product, and what it asked Postgres. */
export interface Path {
  readonly files: number
  readonly functions: number
  readonly calls: number
  /** Execute and Query messages of the protocol (PostgreSQL manual 55.7). */
  readonly statements: number
  /** Sync and Query messages: after each the client waits for ReadyForQuery. */
  readonly roundTrips: number
  /** File -> functions with the numbers of their calls. */
  readonly ran: Ran
}

export type Ran = Readonly<Record<string, readonly { readonly name: string; readonly calls: number }[]>>

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
      const functions = Object.values(ran).flat()
      const calls = functions.reduce((sum, { calls }) => sum + calls, 0)
      const types = typesIn(proxy.chunks())
      return {
        files: Object.keys(ran).length,
        functions: functions.length,
        calls,
        statements: countOf(types, 'EQ'),
        roundTrips: countOf(types, 'SQ'),
        ran,
      }
    },
    stop: async () => {
      child.kill()
      await once(child, 'exit')
      await proxy.close()
    },
  }
}
