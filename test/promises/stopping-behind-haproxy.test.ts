import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { createDatabase } from '../support/database.ts'
import { demoSql } from '../support/examples.ts'
import { describePresent } from '../support/describe-present.ts'
import { forSuite } from '../support/for-suite.ts'
import { listening } from '../support/pooler-process.ts'
import { isInstalled } from '../support/programs.ts'
import { serveBuilt, type Served } from '../support/served.ts'

const program = '/usr/sbin/haproxy'
const missing = isInstalled(program) ? null : `there is no ${program}`

/** Promise: behind haproxy with docs/deploy/haproxy.cfg no request fails while a process is restarted. */
describePresent(
  [{ missing }],
  () => 'haproxy',
  () => {
    const db = forSuite(createDatabase, { prepare: true, sql: demoSql() })
    const folder = mkdtempSync(join(tmpdir(), 'haproxy-'))
    let served: Served[] = []
    let url = ''
    let closeProxy = async (): Promise<void> => undefined

    const serve = (port?: number): Promise<Served> =>
      serveBuilt(db, {
        SHUTDOWN_DRAIN_MS: '4000',
        CLIENT_ADDRESS_HEADER: 'x-forwarded-for',
        ...(port !== undefined && { PORT: String(port) }),
      })

    beforeAll(async () => {
      served = await Promise.all([serve(), serve()])
      const [first = 0, second = 0] = served.map(({ port }) => port)
      const port = await freePort()
      const file = join(folder, 'haproxy.cfg')
      const documented = readFileSync(new URL('../../docs/deploy/haproxy.cfg', import.meta.url), 'utf8')
      writeFileSync(
        file,
        documented
          .replace('bind :8080', `bind 127.0.0.1:${port}`)
          .replace('127.0.0.1:54321', `127.0.0.1:${first}`)
          .replace('127.0.0.1:54322', `127.0.0.1:${second}`),
      )
      closeProxy = await listening(spawn(program, ['-db', '-f', file], { stdio: 'ignore' }), port, '127.0.0.1')
      url = `http://127.0.0.1:${port}/graphql/v1`
    }, 60_000)
    afterAll(async () => {
      await closeProxy()
      await Promise.all(served.map(({ stop }) => stop()))
      rmSync(folder, { recursive: true })
    }, 30_000)

    it('the balancer fails no request while a process is restarted', { timeout: 60_000 }, async () => {
      const answers = new Map<string, number>()
      let isOver = false
      const client = async (): Promise<void> => {
        while (!isOver) {
          const answer = await fetch(url, {
            method: 'POST',
            headers: { apikey: served[0]?.anon ?? '', 'content-type': 'application/json' },
            body: '{"query":"{ postCollection(first: 1) { edges { cursor } } }"}',
          }).then(
            ({ status }) => String(status),
            (error: unknown) => String(error),
          )
          answers.set(answer, (answers.get(answer) ?? 0) + 1)
          await pause(20)
        }
      }
      const clients = Array.from({ length: 8 }, client)
      await pause(500)
      const [first] = served
      await first?.stop()
      served[0] = await serve(first?.port)
      // Until haproxy has noticed that it is back.
      await pause(2_500)
      isOver = true
      await Promise.all(clients)
      expect([...answers.keys()]).toEqual(['200'])
      expect(answers.get('200')).toBeGreaterThan(200)
    })
  },
)
