import pg from 'pg'
import { createHandler } from 'catalograph/handler'

/** Answers by the first part of the path: each has connections of its own kind. */
export function createApp(artifacts, { jwtSecret, databaseUrl, authority }, mayKeep) {
  const handlerOn = (ssl, options) =>
    createHandler(artifacts, {
      connect: async () => {
        const client = new pg.Client({ connectionString: databaseUrl, ssl })
        await client.connect()
        return client
      },
      jwtSecret,
      connections: 2,
      onError: (error) => console.error(error),
      ...options,
    })
  const handlers = {
    ...(mayKeep && { kept: handlerOn(false, {}) }),
    fresh: handlerOn(false, { keepsConnections: false }),
    tls: handlerOn({ ca: authority }, { keepsConnections: mayKeep }),
  }
  return (request, ...others) => handlers[new URL(request.url).pathname.slice(1)](request, ...others)
}
