import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { createConnection, runStatements } from '../../../../runtime/db/wire/exchange.ts'
import { writeRun } from '../../../../runtime/db/wire/wire.ts'

/** ReadyForQuery outside of a transaction, and AuthenticationOk (PostgreSQL manual 54.7). */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('a request that was not answered is not an empty answer, whatever says that it is over', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Buffer.concat([authenticated, ready]))
      socket.on('data', () => socket.write(ready))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(
    () => server.close(),
    () => sockets.forEach((socket) => socket.destroy()),
  )
  const client = new pg.Client({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, user: 'anybody' })
  client.on('error', () => undefined)
  await client.connect()
  const connection = createConnection(client, null)
  const result = await runStatements(connection, [writeRun({ name: 'one', text: 'select 1', values: [] })])
  expect(result).toMatchObject({ kind: 'failed', broken: true, completed: 0 })
  expect(client.connection.stream.destroyed).toBe(true)
})
