import { setTimeout as sleep } from 'node:timers/promises'
import { serveCommand } from '../../compiler/commands/serve.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { runCommand, type CommandAnswer } from './command.ts'
import type { TestDatabase } from './database.ts'
import { postGraphql } from './post-graphql.ts'

/** `catalograph serve` in this process, as its settings make it. */

export const JWT_SECRET = 'a secret that has more than thirty-two characters'
export const keys = projectKeys(JWT_SECRET)

export interface ServedProject {
  readonly url: string
  /** As anon, unless the headers say otherwise. */
  readonly graphql: (query: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

const patienceMs = 15_000

/** Serves with these settings until `visit` is done; gives what the process noted. */
export const whileServed = async (
  db: Pick<TestDatabase, 'url' | 'ownerUrl'>,
  settings: Readonly<Record<string, string>>,
  visit: (project: ServedProject) => Promise<void>,
  options: readonly string[] = [],
): Promise<CommandAnswer> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const usual = { DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl, JWT_SECRET, PORT: String(port) }
  let end: (reason: string) => void = () => undefined
  const stop = new Promise<string>((resolve) => (end = resolve))
  const whole = runCommand([serveCommand], ['serve', ...options], { environment: { ...usual, ...settings }, stop })
  try {
    const until = performance.now() + patienceMs
    while (!(await isReady(url))) {
      if (performance.now() > until) throw new Error('the server did not become ready')
      await sleep(25)
    }
    await visit({
      url,
      graphql: (query, headers = {}) => postGraphql({ url, anon: keys.anon }, { query }, { ...headers }),
    })
  } finally {
    end('the test')
  }
  return whole
}
