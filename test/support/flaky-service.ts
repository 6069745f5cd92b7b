import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Faults of a request on its way, and of its answer on the way back. */
export type Fault =
  /** The request is lost. */
  | 'unreachable'
  /** The service does what it was asked, and the answer is lost. */
  | 'answer-lost'
  /** The answer breaks off. */
  | 'cut'
  /** A proxy answers in the service's place. */
  | 'portal'
  | 'gateway'
  | 'overloaded'
  | 'limited'
  | 'wrong-key'
  /** JSON of another shape. */
  | 'rubbish'

export interface FlakyService {
  readonly url: string
  /** The faults of the next refreshes, one each; later ones succeed. */
  readonly plan: (faults: readonly Fault[]) => void
  /** How many refreshes were sent since the last plan. */
  readonly refreshes: () => number
  readonly close: () => Promise<void>
}

type Answer = readonly [status: number, type: string, body: string, headers?: Readonly<Record<string, string>>]

const json = 'application/json'
const answers: Readonly<Partial<Record<Fault, Answer>>> = {
  portal: [200, 'text/html', '<html>Please accept the terms of this network</html>'],
  gateway: [502, 'text/html', '<html>Bad gateway</html>'],
  overloaded: [503, json, '{"code":"overloaded","message":"Too many sign-ins"}', { 'retry-after': '1' }],
  limited: [429, json, '{"code":"over_request_rate_limit","message":"Slowly"}', { 'retry-after': '60' }],
  'wrong-key': [401, json, '{"message":"Invalid API key"}'],
  rubbish: [200, json, '{"access_token":17,"user":[]}'],
}

/** A service between a client and another service, which passes on all that no fault befalls. */
export async function startFlakyService(target: string): Promise<FlakyService> {
  let faults: Fault[] = []
  let refreshes = 0
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isRefresh = request.url?.includes('grant_type=refresh_token') === true
    const fault = isRefresh ? faults.shift() : undefined
    if (isRefresh) refreshes += 1
    const canned = fault === undefined ? undefined : answers[fault]
    if (fault === 'unreachable') return void request.socket.destroy()
    if (canned !== undefined) {
      const [status, type, body, headers] = canned
      return void response.writeHead(status, { 'content-type': type, ...headers }).end(body)
    }
    const answer = await pass(request, target)
    const text = await answer.text()
    if (fault === 'answer-lost') return void request.socket.destroy()
    const whole = fault !== 'cut'
    const headers = { 'content-type': answer.headers.get('content-type') ?? json }
    response.writeHead(answer.status, headers).end(whole ? text : text.slice(0, text.length / 2))
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    plan: (next) => {
      faults = [...next]
      refreshes = 0
    },
    refreshes: () => refreshes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function pass(request: IncomingMessage, target: string): Promise<Response> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
  return fetch(`${target}${request.url}`, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  })
}
