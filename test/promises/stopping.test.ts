import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { serveBuilt } from '../support/served.ts'
import { postGraphql } from '../support/post-graphql.ts'

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `
      create function slow(seconds float8) returns int language plpgsql volatile as
        $$ begin perform pg_sleep(seconds); return 1; end $$;
      grant usage on schema public to anon;
    `,
})

it('a process that is asked to stop answers what outlives its grace and is gone a second later', async () => {
  const served = await serveBuilt(db, { SHUTDOWN_GRACE_MS: '1500' })
  const slow = postGraphql(served, { query: 'mutation { slow(seconds: 30) }' }).then(async (response) => [
    response.status,
    await response.json(),
  ])
  await pause(500)
  const ms = await served.stop()
  expect(await slow).toMatchObject([503, { data: null, errors: [{ extensions: { code: 'SERVER_STOPPING' } }] }])
  expect(ms).toBeGreaterThan(1_400)
  expect(ms).toBeLessThan(2_500)
})

it('a process that is asked to stop waits for no connection that has sent nothing', async () => {
  const served = await serveBuilt(db, { SHUTDOWN_GRACE_MS: '20000' })
  const { hostname, port } = new URL(served.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  // It is accepted by the time that a later one is answered.
  await fetch(`${served.url}/livez`).then((response) => response.text())
  const ended = once(socket.resume(), 'close')
  expect(await served.stop()).toBeLessThan(10_000)
  await ended
})

it.each(['1', '2'])('a process with %s workers serves while balancers notice that it is not ready', async (workers) => {
  const served = await serveBuilt(db, { SHUTDOWN_DRAIN_MS: '1500', WORKERS: workers })
  const get = (path: string): Promise<Response> => fetch(served.url + path, { headers: { connection: 'close' } })
  const stopped = served.stop()
  await expect.poll(async () => (await get('/readyz')).status, { interval: 20 }).toBe(503)
  expect(await (await get('/readyz')).json()).toMatchObject({ status: 'stopping' })
  const ask = (): Promise<number> =>
    postGraphql(served, { query: '{ __typename }' }, { connection: 'close' }).then(({ status }) => status)
  const statuses = [(await get('/livez')).status, await ask()]
  await pause(700)
  expect([...statuses, await ask()]).toEqual([200, 200, 200])
  const ms = await stopped
  expect(ms).toBeGreaterThan(1_500)
  expect(ms).toBeLessThan(8_000)
})
