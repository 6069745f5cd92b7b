import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buildSchema, execute, subscribe, validate, type GraphQLSchema } from 'graphql'
import { createHandler } from 'graphql-sse/lib/use/http'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'

/** The credentials of a stream: a request's headers, or what `connection_init` carried. */
export type Greeting = Readonly<Record<string, unknown>>

/** Another server that speaks both protocols, whose one answer a test decides. */
export interface LivePeer {
  readonly url: string
  /** Sends every stream another answer, and each new one this answer first. */
  readonly say: (titles: readonly string[]) => void
  /** Of each stream or socket that was let in, oldest first. */
  readonly greetings: readonly Greeting[]
  /** Streams that are open now. */
  readonly streams: () => number
  /** Ends all connections without a word. */
  readonly cut: () => void
  /** Closes all sockets with a code. */
  readonly closeSockets: (code: number, reason: string) => void
  /** Reads nothing more of what is open now, and says nothing there. */
  readonly freeze: () => void
  /** How each is answered that comes from now on, instead of being let in; null lets them in. Of one token alone, where it is given. */
  readonly refuse: (how: Refusal | null, token?: string) => void
  readonly stop: () => Promise<void>
}

export type Refusal =
  /** The socket is closed with a code; a request is answered. */
  | { readonly status: number; readonly body: string; readonly code: number; readonly headers?: Record<string, string> }
  /** Neither: it is heard and left alone. */
  | 'silence'

export async function startLivePeer(): Promise<LivePeer> {
  let titles: readonly string[] = []
  let refusal: Refusal | null = null
  let refusedToken: string | undefined
  const refusalOf = ({ authorization }: Greeting): Refusal | null =>
    refusedToken === undefined || authorization === `Bearer ${refusedToken}` ? refusal : null
  const greetings: Greeting[] = []
  const waiting = new Set<() => void>()
  const connections = new Set<Socket>()
  let open = 0
  /** Not a generator, which would not notice while it waits that its last listener left. */
  const answers = (): AsyncIterableIterator<object> => {
    let told: readonly string[] | null = null
    let wake = (): void => undefined
    open += 1
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: async () => {
        while (told === titles) {
          await new Promise<void>((resolve) => {
            wake = resolve
            waiting.add(resolve)
          })
        }
        told = titles
        const edges = titles.map((title) => ({ node: { title } }))
        return { value: { titles, postCollection: { edges } }, done: false }
      },
      return: async () => {
        waiting.delete(wake)
        open -= 1
        return { value: undefined, done: true }
      },
    }
  }
  // The packages would import the other build of graphql.
  const engine = { schema: livePeerSchema(answers), execute, subscribe, validate }
  const events = createHandler(engine)
  const server = createServer((request, response) => {
    const { headers } = request
    const refused = refusalOf(headers)
    if (refused === 'silence') return
    if (refused !== null) return answerRefused(response, refused)
    greetings.push(headers)
    void events(request, response)
  })
  const sockets = new WebSocketServer({ server, path: '/graphql/v1' })
  useServer(
    {
      ...engine,
      onConnect: ({ connectionParams = {}, extra }) => {
        const refused = refusalOf(connectionParams)
        if (refused === 'silence') return new Promise<boolean>(() => undefined)
        if (refused === null) greetings.push(connectionParams)
        else extra.socket.close(refused.code, 'No')
        return true
      },
    },
    sockets,
  )
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of connections) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    greetings,
    streams: () => open,
    say: (next) => {
      titles = next
      const all = [...waiting]
      waiting.clear()
      for (const wake of all) wake()
    },
    cut,
    closeSockets: (code, reason) => {
      for (const socket of sockets.clients) socket.close(code, reason)
    },
    freeze: () => {
      for (const socket of connections) socket.pause()
    },
    refuse: (how, token) => {
      refusal = how
      refusedToken = token
    },
    stop: async () => {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const answerRefused = (
  response: ServerResponse<IncomingMessage>,
  { status, body, headers }: Exclude<Refusal, string>,
): void => void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

const definitions = `
  type Query { titles: [String] }
  type Subscription { titles(first: Int): [String] postCollection(first: Int): PostConnection }
  type PostConnection { edges: [PostEdge!]! }
  type PostEdge { node: Post! }
  type Post { title: String }`

/** Its data: the titles, plain and as rows. */
export function livePeerSchema(answers: () => AsyncIterable<unknown>): GraphQLSchema {
  const schema = buildSchema(definitions)
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) field.subscribe = answers
  return schema
}
