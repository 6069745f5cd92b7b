import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { serveBuilt } from '../support/served.ts'

const db = forSuite(createDatabase, { prepare: true })
const served = forSuite(() => serveBuilt(db))

/** The limit of the system on connections that wait to be accepted. */
const mostWaiting = (): number => {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return 128
  }
}

const flood = 900

it('a flood of connections leaves room for others to connect', async ({ skip }) => {
  skip(mostWaiting() <= flood, 'the system lets fewer connections wait')
  // A process that is stopped accepts none: they wait in the queue of the system, or find it full and try again a second later.
  process.kill(served.pid, 'SIGSTOP')
  const sockets: Socket[] = []
  try {
    let connected = 0
    for (let count = 0; count < flood; count += 1) {
      const socket = connect(served.port, '127.0.0.1', () => (connected += 1))
      socket.on('error', () => undefined)
      sockets.push(socket)
    }
    await expect.poll(() => connected, { timeout: 900 }).toBe(flood)
  } finally {
    process.kill(served.pid, 'SIGCONT')
    for (const socket of sockets) socket.destroy()
  }
  await pause(100)
  expect((await fetch(`${served.url}/health`)).status).toBe(200)
})
