import { createServer } from 'node:net'

/** A TCP port of 127.0.0.1 that is free at this moment. @param wanted rejects where it is taken; 0: any */
export const freePort = (wanted = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port)
        else reject(new Error('No free port was found on 127.0.0.1.'))
      })
    })
  })
