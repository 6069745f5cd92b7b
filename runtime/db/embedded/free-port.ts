import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports of outgoing connections on Linux (32768 and up), macOS and Windows (49152 and up). A connection may
 * take a port among those between this check and the server's start, or while that server restarts.
 */
const [lowest, end] = [10_240, 32_768]
const attempts = 100

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/**
 * A free TCP port of 127.0.0.1.
 * @param wanted the first to be tried
 * @returns wanted if it is free, else a random one
 */
export const freePort = async (wanted = randomInt(lowest, end)): Promise<number> => {
  let port = wanted
  for (let attempt = 0; attempt < attempts; attempt++, port = randomInt(lowest, end))
    if (await isFree(port)) return port
  throw new Error('No free port was found on 127.0.0.1.')
}
