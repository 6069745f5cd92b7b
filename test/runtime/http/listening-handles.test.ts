import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { addHandles, handlesOf } from '../../../runtime/http/listening-handles.ts'
import { builtModule } from '../../../runtime/lib/built-module.ts'

/** How many connections a server accepts in a turn of the event loop, and that its limits and its end are those of one handle. */

const backlog = 1_024
const handles = 5

let server: Server
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  if (server.listening) await closed()
})

const closed = (): Promise<unknown> => {
  const end = once(server, 'close')
  server.close()
  server.closeAllConnections()
  return end
}

const listen = async (port = 0): Promise<number> => {
  server = createServer((_request, response) => response.end('here'))
  server.listen({ port, host: '127.0.0.1', backlog })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Connects so many at once, and tells how many were accepted in each turn until all were, or were dropped. */
const acceptedInTurns = async (port: number, count: number): Promise<readonly number[]> => {
  const turns: number[] = []
  let [accepted, over] = [0, 0]
  server.on('connection', () => (accepted += 1))
  server.on('drop', () => (over += 1))
  for (let opened = 0; opened < count; opened += 1) {
    sockets.push(connect({ port, host: '127.0.0.1' }).on('error', () => undefined))
  }
  let before = 0
  while (accepted + over < count) {
    await turn()
    turns.push(accepted + over - before)
    before = accepted + over
  }
  return turns
}

const refused = async (port: number): Promise<unknown> =>
  new Promise((resolve) => {
    connect({ port, host: '127.0.0.1' })
      .once('error', (error) => resolve('code' in error ? error.code : error))
      .once('connect', () => resolve('connected'))
  })

describe('a socket with several handles', () => {
  it('accepts one connection in each turn before it has them', async () => {
    expect(Math.max(...(await acceptedInTurns(await listen(), 64)))).toBe(1)
  })

  it('accepts as many in each turn as it has handles', async () => {
    const port = await listen()
    expect(await addHandles(server, handles, backlog)).toBe(true)
    expect(Math.max(...(await acceptedInTurns(port, 64)))).toBe(handles)
  })

  it('answers each, and counts them as those of one server', async () => {
    const port = await listen()
    await addHandles(server, handles, backlog)
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => (await fetch(`http://127.0.0.1:${port}/`)).text()),
    )
    expect(answers).toEqual(answers.map(() => 'here'))
    server.maxConnections = 10
    server.closeIdleConnections()
    while ((await open()) > 0) await turn()
    await acceptedInTurns(port, 64)
    expect(await open()).toBe(10)
  })

  it('is closed as a whole, so that another server may take the address', async () => {
    const port = await listen()
    await addHandles(server, handles, backlog)
    await closed()
    expect(await refused(port)).toBe('ECONNREFUSED')
    expect(await listen(port)).toBe(port)
  })

  it('is closed as a whole while handles are still made', async () => {
    const port = await listen()
    const adding = addHandles(server, handles, backlog)
    await closed()
    expect(await adding).toBe(true)
    expect(await refused(port)).toBe('ECONNREFUSED')
    expect(await listen(port)).toBe(port)
  })

  it('shares them with other processes, each of which has one', () => {
    expect([1, 2, 3, 8, 64].map(handlesOf)).toEqual([4, 2, 2, 1, 1])
  })

  it('keeps the one that it has where no file is left to start a process with', async () => {
    await listen()
    const built = builtModule(
      new URL('../../../runtime/http/', import.meta.url).href,
      'runtime/http/listening-handles.js',
    )
    const program = `
      import { openSync } from 'node:fs'
      import { createServer } from 'node:http'
      const { addHandles } = await import(${JSON.stringify(built)})
      const server = createServer().listen({ port: 0, host: '127.0.0.1' }, async () => {
        console.log('starts')
        try { for (;;) openSync('/dev/null') } catch (error) { console.log(error.code) }
        console.log(await addHandles(server, ${handles}, ${backlog}))
        setImmediate(() => process.exit(server.listening ? 0 : 2))
      })`
    const node = [process.execPath, '--input-type=module', '-e', program]
    const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh', ...node])
    expect(stdout).toBe('starts\nEMFILE\nfalse\n')
  })

  it('has none where Node shows no handle', async () => {
    await listen()
    await closed()
    expect(await addHandles(server, handles, backlog)).toBe(false)
  })
})

const open = (): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
