import { once } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createSocket } from '../../../../runtime/db/wire/messages.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'

/**
 * The assumptions of runtime/db about pg beyond its documentation. package.json pins pg to its minor version for that reason.
 */

interface Internals {
  readonly processID: unknown
  readonly secretKey: unknown
  readonly host: unknown
  readonly port: unknown
  readonly ssl: unknown
}

const database = forSuite(createDatabase, {})

const connected = async (socket?: Socket): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: database.url, ...(socket && { stream: () => socket }) })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

test('a client has the key that cancels it, and the address that it has reached', async () => {
  const client = await connected()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const { processID, secretKey, host, port, ssl } = client as unknown as Internals
  expect(processID).toBe(rows[0]?.pid)
  expect([typeof secretKey, typeof host, typeof port, ssl]).toEqual(['number', 'string', 'number', false])
  await client.end()
})

test('`stream` makes the socket, and pg reads it by listeners of `data` alone', async () => {
  const socket = createSocket()
  const client = await connected(socket)
  expect(client.connection.stream).toBe(socket)
  expect(socket.listenerCount('data')).toBe(1)
  socket.removeAllListeners('data')
  let answered = false
  void client.query('select 1').then(
    () => (answered = true),
    () => undefined,
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(answered).toBe(false)
  const ended = once(client.connection, 'end')
  client.end().catch(() => undefined)
  await ended
  expect(socket.destroyed || socket.readableEnded).toBe(true)
})

test('a bare connection says when it is connected, cancels, and says when it has ended', async () => {
  const client = await connected()
  const { host, port, processID, secretKey } = client as unknown as Internals
  const running = client.query('select pg_sleep(10)')
  const refused = expect(running).rejects.toMatchObject({ code: '57014' })
  await new Promise((resolve) => setTimeout(resolve, 100))
  const bare = new pg.Connection({}) as pg.Connection &
    Record<'connect' | 'cancel' | 'requestSsl', (...args: unknown[]) => void>
  expect(typeof bare.requestSsl).toBe('function')
  bare.on('connect', () => bare.cancel(processID, secretKey))
  const ended = once(bare, 'end')
  bare.connect(port, host)
  await ended
  await refused
  await client.end()
})
