import { join } from 'node:path'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { postTo, requestsOf, type Access, type Subject } from '../serve/subjects.ts'
import { projectFolder } from '../support/record.ts'
import { startServer } from '../support/servers.ts'

/** A server beside others in one process: its settings, and its port. */
export interface Served {
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
}

/** A server to compare: its name, and its additional settings. */
export interface Watched {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
}

export interface Together {
  readonly subjects: readonly Subject[]
  readonly stop: () => Promise<void>
}

const built = (file: string): string => join(projectFolder, 'bench/dist/bench/observe', file)

/**
 * Servers of one database in one process. Two processes of the same program differ by a tenth in what a request costs them, for
 * as long as they live (where their memory lies, what V8 made of their code); servers in one process have that in common.
 */
export const startTogether = async (db: TestDatabase, access: Access, all: readonly Watched[]): Promise<Together> => {
  const places = await Promise.all(all.map(async (one) => ({ ...one, port: await freePort() })))
  // The server starts them one by one: when the last one answers, all do.
  const last = places.at(-1)
  if (last === undefined) throw new Error('No server to start.')
  const process = await startServer({
    name: 'servers in one process',
    args: ['--import', built('tracing.js'), built('served.js')],
    env: {
      DATABASE_URL: db.url,
      DATABASE_OWNER_URL: db.ownerUrl,
      JWT_SECRET: access.secret,
      SERVED: JSON.stringify(places.map(({ port, settings }): Served => ({ port, settings }))),
    },
    port: last.port,
    ready: postTo('/graphql/v1', access, { query: '{ __typename }' }),
  })
  const subjects = places.map(({ name, port }) => ({
    name,
    server: { ...process, name, port },
    request: requestsOf(access),
  }))
  return { subjects, stop: process.stop }
}
