import { once } from 'node:events'
import { createServer, Socket, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createCancellations } from '../../../../runtime/db/pool/cancel.ts'
import type { Connection } from '../../../../runtime/db/wire/exchange.ts'

/** A server that takes what it is asked and answers nothing: its pooler may not have reached the primary yet. */
const openSilent = async () => {
  const senders = new Set<Socket>()
  const server = createServer((socket) => {
    senders.add(socket.resume())
    socket.once('close', () => senders.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    senders,
    close: () => {
      for (const socket of senders) socket.destroy()
      server.close()
    },
  }
}

test('the sender of a cancel gives up a silent server, and stays: PgBouncer 1.18 ends when a sender has left', async () => {
  const { port, senders, close } = await openSilent()
  const stream = new Socket()
  const client = { host: '127.0.0.1', port, processID: 1, secretKey: 2, ssl: false, connection: { stream } }
  // The members of a connection through a pooler that its end reads.
  const connection = { inFlight: {}, pooled: {}, client } as unknown as Connection
  await createCancellations(() => Promise.reject(new Error('A pooler hides the backend.'))).end(connection, 'gone')
  expect(stream.destroyed).toBe(true)
  expect(senders.size).toBe(1)
  close()
})
