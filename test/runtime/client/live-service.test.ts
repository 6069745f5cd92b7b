import { ApolloClient, ApolloLink, gql, InMemoryCache } from '@apollo/client/core'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { createClient as createUrql, subscriptionExchange } from '@urql/core'
import { print } from 'graphql'
import { createClient as createSse, type Client as SseClient } from 'graphql-sse'
import { createClient as createWs, type Client as WsClient } from 'graphql-ws'
import {
  Environment,
  Network,
  Observable as RelayObservable,
  RecordSource,
  requestSubscription,
  Store,
  type ConcreteRequest,
} from 'relay-runtime'
import { Observable } from 'rxjs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createClient, type Client, type GraphqlResult, type LiveOptions } from '../../../runtime/client/client.ts'
import type { Socket } from '../../../runtime/client/environment.ts'
import { forSuite } from '../../support/for-suite.ts'
import { openLiveServer } from '../../support/live.ts'

/** Streams of the service, for our client and for those that people use. */

const closes: (() => unknown)[] = []
const server = forSuite(openLiveServer)
beforeEach(() => rename('one'))
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

const rename = (title: string): Promise<void> => server.write(`update posts set title = '${title}' where id = 1`)
const address = (): string => server.url.replace('http', 'ws')
const keys = (): Record<string, string> => server.headers({ sub: 'ada' })

const text = `subscription Posts { postsCollection(first: 1, orderBy: [{id: AscNullsLast}]) {
  edges { node { nodeId title } } } }`
interface Posts {
  readonly postsCollection: { readonly edges: readonly { readonly node: { readonly title: string } }[] }
}
const titleOf = (data: Posts | null | undefined): string | undefined => data?.postsCollection.edges[0]?.node.title

/** Receives the present answer and two later ones, and nothing in between. */
async function followsTitles(heard: () => readonly unknown[]): Promise<void> {
  // The first of all compiles the schema.
  await expect.poll(heard, { timeout: 10_000 }).toEqual(['one'])
  await rename('two')
  await expect.poll(heard).toEqual(['one', 'two'])
  await server.write(`update posts set title = 'other' where id = 2`)
  await rename('three')
  await expect.poll(heard).toEqual(['one', 'two', 'three'])
}

describe.each(['websocket', 'sse'] as const)('our client by %s', (transport) => {
  function open(): Client {
    const client = createClient(server.url.replace('/graphql/v1', ''), server.token({}), {
      live: { transport },
      environment: { openSocket: (url, protocol) => new WebSocket(url, protocol) as unknown as Socket },
    })
    closes.push(client.close)
    return client
  }
  function watch(options: LiveOptions = {}, document = text) {
    const results: GraphqlResult<Posts>[] = []
    const stream = open().live<Posts>(document, {}, (result) => results.push(result), options)
    return {
      ...stream,
      heard: () => results.map(({ data, error }) => titleOf(data) ?? error?.code),
      rows: () => results.at(-1)?.data?.postsCollection.edges.length,
      patches: () => results.flatMap(({ extensions }) => (extensions['patch'] === undefined ? [] : [extensions])),
    }
  }

  it('receives each answer that differs from the last', async () => {
    const { heard } = watch()
    await followsTitles(heard)
  })

  it('hears whole answers where the service sends what changed', async () => {
    await server.write(`insert into posts (id, title) select n, repeat('x', 200) from generate_series(3, 12) n`)
    const { heard, rows, patches } = watch({ patch: true }, text.replace('first: 1, ', ''))
    await expect.poll(rows).toBe(12)
    await rename('two')
    await expect.poll(() => heard().at(-1)).toBe('two')
    await server.write('delete from posts where id > 2')
    await expect.poll(rows).toBe(2)
    expect([heard().at(-1), patches().length > 0]).toEqual(['two', true])
  })

  it('ends with the errors of a query', async () => {
    const { heard, done } = watch({}, 'subscription { nothing }')
    expect((await done).error?.code).toBe('GRAPHQL_VALIDATION_FAILED')
    expect(heard()).toEqual(['GRAPHQL_VALIDATION_FAILED'])
  })
})

describe('clients that people use', () => {
  function overSocket(): WsClient {
    const client = createWs({
      url: address(),
      webSocketImpl: WebSocket,
      connectionParams: async () => keys(),
      retryAttempts: Infinity,
      shouldRetry: () => true,
    })
    closes.push(() => client.dispose())
    return client
  }
  function overEvents(): SseClient {
    const client = createSse({ url: server.url, headers: async () => keys() })
    closes.push(() => client.dispose())
    return client
  }
  /** Of what `each` receives. */
  function titles() {
    const told: (string | undefined)[] = []
    return { told: () => told, hear: (data: Posts | null | undefined) => void told.push(titleOf(data)) }
  }
  const complete = (): void => undefined
  const error = (reason: unknown): void => console.error(reason)

  it('include graphql-ws', async () => {
    const { told, hear } = titles()
    const stop = overSocket().subscribe<Posts>({ query: text }, { next: ({ data }) => hear(data), error, complete })
    await followsTitles(told)
    stop()
  })

  it('include graphql-sse', async () => {
    const { told, hear } = titles()
    const stop = overEvents().subscribe<Posts>({ query: text }, { next: ({ data }) => hear(data), error, complete })
    await followsTitles(told)
    stop()
  })

  it('include Apollo Client over a socket', async () => {
    const { told, hear } = titles()
    const client = new ApolloClient({ link: new GraphQLWsLink(overSocket()), cache: new InMemoryCache() })
    const { unsubscribe } = follow(client, hear)
    await followsTitles(told)
    unsubscribe()
  })

  it('include Apollo Client by Server-Sent Events', async () => {
    const { told, hear } = titles()
    const events = overEvents()
    const link = new ApolloLink(
      ({ query, variables, operationName }) =>
        new Observable((observer) =>
          events.subscribe(
            { query: print(query), variables, ...(operationName !== undefined && { operationName }) },
            {
              next: (result) => observer.next(result as ApolloLink.Result),
              error: (reason) => observer.error(reason),
              complete: () => observer.complete(),
            },
          ),
        ),
    )
    const { unsubscribe } = follow(new ApolloClient({ link, cache: new InMemoryCache() }), hear)
    await followsTitles(told)
    unsubscribe()
  })

  const follow = (client: ApolloClient, hear: (data: Posts | null | undefined) => void) => {
    const subscription = client
      .subscribe<Posts>({ query: gql(text) })
      .subscribe({ next: ({ data }) => hear(data), error })
    return { unsubscribe: () => subscription.unsubscribe() }
  }

  it('include urql', async () => {
    const { told, hear } = titles()
    const socket = overSocket()
    const client = createUrql({
      url: server.url,
      preferGetMethod: false,
      exchanges: [
        subscriptionExchange({
          forwardSubscription: ({ query = '', variables = {} }) => ({
            subscribe: (sink) => ({
              unsubscribe: socket.subscribe({ query, variables }, sink as Parameters<WsClient['subscribe']>[1]),
            }),
          }),
        }),
      ],
    })
    const { unsubscribe } = client.subscription<Posts>(text, {}).subscribe(({ data }) => hear(data))
    await followsTitles(told)
    unsubscribe()
  })

  it('include Relay', async () => {
    const { told, hear } = titles()
    const socket = overSocket()
    const network = Network.create(
      () => Promise.reject(new Error('Nothing is fetched.')),
      ({ name, text: query }, variables) =>
        RelayObservable.create((sink) =>
          socket.subscribe(
            { operationName: name, query: query ?? '', variables },
            sink as Parameters<WsClient['subscribe']>[1],
          ),
        ),
    )
    const environment = new Environment({ network, store: new Store(new RecordSource()) })
    const { dispose } = requestSubscription(environment, {
      subscription: postsRequest,
      variables: {},
      onNext: (data) => hear(data as Posts),
      onError: error,
    })
    await followsTitles(told)
    dispose()
  })
})

const field = (name: string) => ({ kind: 'ScalarField', alias: null, args: null, name, storageKey: null }) as const
const linked = (name: string, concreteType: string, plural: boolean, selections: readonly object[]) =>
  ({ kind: 'LinkedField', alias: null, args: null, name, concreteType, plural, selections, storageKey: null }) as const
const selections = [
  linked('postsCollection', 'PostsConnection', false, [
    linked('edges', 'PostsEdge', true, [linked('node', 'Posts', false, [field('nodeId'), field('title')])]),
  ]),
]
const name = 'Posts'
const postsRequest = {
  kind: 'Request',
  fragment: {
    kind: 'Fragment',
    name,
    type: 'Subscription',
    metadata: null,
    abstractKey: null,
    argumentDefinitions: [],
    selections,
  },
  operation: { kind: 'Operation', name, argumentDefinitions: [], selections },
  params: { id: null, cacheID: name, metadata: {}, name, operationKind: 'subscription', text },
} as unknown as ConcreteRequest
