import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../../../runtime/db/embedded/free-port.ts'

/** Linux' own setting of ip_local_port_range; other systems begin later. */
const lowestOutgoing = 32_768

describe('a free port', () => {
  it('is the wanted one if it is free, a different one otherwise', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await freePort(port)).not.toBe(port)
    const other = await freePort()
    expect(await freePort(other)).toBe(other)
    await new Promise((resolve) => server.close(resolve))
  })

  it('is never one that an outgoing connection may take', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()))
    expect(Math.max(...ports)).toBeLessThan(lowestOutgoing)
    expect(new Set(ports).size).toBeGreaterThan(150)
  })
})
