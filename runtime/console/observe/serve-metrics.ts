import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { Metrics } from './metrics.ts'

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/** Serves GET /metrics on a separate address, without a key. Rejects if it cannot listen there. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  metrics: Pick<Metrics, 'contentType' | 'text'>,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end()
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(port, host)
  await once(server, 'listening')
  return server
}
