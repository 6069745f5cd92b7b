import { setTimeout as pause } from 'node:timers/promises'
import { openConnection } from '../../../bench/support/http-client.ts'
import { codeOf } from './arms.ts'
import { anonOf, asking } from './callers.ts'
import { markClass } from './schema.ts'
import type { Town } from './town.ts'

/** How a server ends that has a request which takes longer than its grace. */
export interface Ending {
  /** Of the answer; null: the connection was closed without one. */
  readonly code: string | null
  /** Milliseconds from the signal to the end of the process. */
  readonly ms: number
  readonly exitCode: number | null
  /** Statements of that request which still ran when the process was gone. */
  readonly running: number
}

const patienceMs = 20_000
const mark = 2_000_000_000

const ran = `select from pg_locks where locktype = 'advisory' and classid = ${markClass} and objid = ${mark}`

export async function endTown(town: Town): Promise<Ending> {
  const { server } = town
  const connection = await openConnection(server.port, '127.0.1.201')
  const answered = connection.send(asking(anonOf(town), `{ nap(seconds: 60, mark: ${mark}) }`)).then(codeOf, () => null)
  for (let tries = 0; tries < 100 && (await town.everywhere(ran)).length === 0; tries += 1) await pause(20)
  const asked = performance.now()
  server.signal('SIGTERM')
  const late = pause(patienceMs, null, { ref: false })
  await Promise.race([server.exited, late])
  const ms = performance.now() - asked
  const running = (await town.everywhere(ran)).length
  connection.close()
  return { code: await answered, ms, exitCode: server.exitCode(), running }
}
