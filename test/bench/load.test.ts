import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { cpuTime } from '../../bench/support/cpu.ts'
import { httpRequest, sendOnce } from '../../bench/support/http-client.ts'
import { arrive, saturate } from '../../bench/support/load.ts'

const servers: Server[] = []
afterEach(() => servers.splice(0).forEach((server) => server.close()))

const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

test('an answer that comes in pieces is put together, and its body is the bytes that were sent', async () => {
  const port = await serve((request, response) => {
    response.setHeader('content-length', 6)
    response.write('äb')
    setTimeout(() => request.on('data', (text) => response.end(text)).resume(), 5)
  })
  const answer = await sendOnce(port, httpRequest({ path: '/', body: 'xyz' }))
  expect([answer.status, answer.body.toString()]).toEqual([200, 'äbxyz'])
})

test('a closed loop keeps all connections busy and counts what was not good', async () => {
  let [seen, now, most] = [0, 0, 0]
  const port = await serve((_, response) => {
    seen += 1
    now += 1
    most = Math.max(most, now)
    const status = seen % 2 === 0 ? 200 : 500
    setTimeout(() => {
      now -= 1
      response.writeHead(status, { 'content-length': 0 }).end()
    }, 5)
  })
  const message = httpRequest({ method: 'GET', path: '/' })
  const sample = await saturate({ port, connections: 3, ms: 100, next: () => message })
  expect(sample.answered).toBe(seen)
  expect(sample.latencies).toHaveLength(seen)
  expect(sample.failed).toBe(Math.ceil(seen / 2))
  expect(most).toBe(3)
})

test('arrivals do not wait for answers as long as a connection is free', async () => {
  let [now, most] = [0, 0]
  const port = await serve((_, response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      response.writeHead(200, { 'content-length': 0 }).end()
    }, 50)
  })
  const message = httpRequest({ method: 'GET', path: '/' })
  const sample = await arrive({ port, connections: 50, ms: 300, perSecond: 200, next: () => message })
  expect(sample.failed).toBe(0)
  expect(sample.answered).toBeGreaterThan(20)
  expect(most).toBeGreaterThan(3)
})

test.runIf(process.platform === 'linux')('the CPU time of a process grows with its work', async () => {
  const before = cpuTime(process.pid)
  const until = performance.now() + 100
  while (performance.now() < until) Math.hypot(until)
  expect(cpuTime(process.pid) - before).toBeGreaterThan(10_000)
})
