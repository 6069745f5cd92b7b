import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client/core'
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { createClient as createUrql, fetchExchange } from '@urql/core'
import fc from 'fast-check'
import { parse, visit, type DocumentNode } from 'graphql'
import { GraphQLClient } from 'graphql-request'
import { afterEach, describe, expect, it } from 'vitest'
import { createClient, GraphqlError, type Client, type TypedDocument } from '../../../runtime/client/client.ts'
import { printDocument } from '../../../runtime/client/print-document.ts'
import { claimsOf, startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { postsSql } from '../../support/posts.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' }, sql: postsSql })

const clients: Client[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})

function open(fetch?: typeof globalThis.fetch): Client {
  const client = createClient(server.url, server.anon, fetch === undefined ? {} : { fetch })
  clients.push(client)
  return client
}

/** A new user who has written a post. */
async function writer(title: string): Promise<Client> {
  const client = open()
  await client.auth.signUp({ email: `${randomUUID()}@example.com`, password: 'correct horse' })
  const { error } = await client.graphql(insert, { title })
  if (error !== null) throw error
  return client
}

interface Titles {
  readonly postsCollection: { readonly edges: readonly { readonly node: { readonly title: string } }[] }
}
const titlesText = 'query Titles($first: Int) { postsCollection(first: $first) { edges { node { title } } } }'
const insert = `mutation ($title: String!) { insertIntoPostsCollection(objects: [{title: $title}]) { affectedCount } }`
const titlesOf = (data: Titles | null | undefined): unknown => data?.postsCollection.edges.map(({ node }) => node.title)

/** As code generators write documents: the tree alone, and a String object. */
const asNode = JSON.parse(JSON.stringify(parse(titlesText, { noLocation: true }))) as TypedDocumentNode<
  Titles,
  { first?: number }
>
class TypedDocumentString<Data, Variables> extends String {
  declare __apiType?: NonNullable<TypedDocument<Data, Variables>['__apiType']>
  __meta__?: Readonly<Record<string, unknown>>
}
const asString = new TypedDocumentString<Titles, { first?: number }>(titlesText)

describe('graphql', () => {
  it('takes texts, trees and typed strings, and asks as the signed-in user', async () => {
    const client = await writer('Mine')
    for (const document of [asNode, asString]) {
      const { data } = await client.graphql(document, { first: 5 })
      expect(titlesOf(data)).toEqual(['Mine'])
      expect(titlesOf((await open().graphql(document)).data)).toEqual([])
    }
    const several = `${titlesText} query Other { __typename }`
    const said = await client.graphql<Titles>(several, {}, { operationName: 'Titles' })
    expect(titlesOf(said.data)).toEqual(['Mine'])
  })

  it('sends extensions, and hands out those of the answer', async () => {
    const { graphql } = open(async (_input, init) => {
      const { extensions } = JSON.parse(String(init?.body)) as { extensions: object }
      return Response.json({ data: {}, extensions: { asked: extensions } })
    })
    const answer = await graphql('{ a }', {}, { extensions: { explain: true } })
    expect(answer).toEqual({ data: {}, error: null, extensions: { asked: { explain: true } } })
  })

  it('sends the hash that a document has, and its text where the service takes no hashes', async () => {
    const hashed = new TypedDocumentString<Titles, { first?: number }>(titlesText)
    const hash = createHash('sha256').update(titlesText).digest('hex')
    hashed.__meta__ = { hash }
    const sent: unknown[] = []
    const { graphql } = open((input, init) => {
      sent.push(JSON.parse(String(init?.body)))
      return fetch(input, init)
    })
    for (const first of [1, 2]) expect((await graphql(hashed, { first })).error).toBeNull()
    expect(sent).toEqual([
      { variables: { first: 1 }, extensions: { persistedQuery: { version: 1, sha256Hash: hash } } },
      { query: titlesText, variables: { first: 1 } },
      { query: titlesText, variables: { first: 2 } },
    ])
  })

  it('gives errors by their code, and never throws', async () => {
    const client = open()
    const wrong = await client.graphql('{ nothing }')
    expect(wrong).toMatchObject({ data: null, error: { status: 400, errors: [{ message: expect.any(String) }] } })
    expect(wrong.error?.code).toMatch(/^[A-Z_]+$/)
    expect(JSON.parse(JSON.stringify(wrong.error))).toMatchObject({
      code: wrong.error?.code,
      message: wrong.error?.message,
    })
    const definition = parse('type A { a: Int }') as unknown as TypedDocument<unknown, unknown>
    expect((await client.graphql(definition)).error).toBeInstanceOf(GraphqlError)
    const page = async () => new Response('<html>', { status: 200 })
    const odd = async () => Response.json({ hello: 1 })
    const shapeless = async () => Response.json({ data: null, errors: [17] })
    const closed = async () => Response.json({ message: 'Invalid API key' }, { status: 401 })
    const offline = () => Promise.reject(new TypeError('offline'))
    const codes = [page, odd, shapeless, closed, offline].map(
      async (fetch) => (await open(fetch).graphql('{ a }')).error?.code,
    )
    expect(await Promise.all(codes)).toEqual([
      'bad_answer',
      'bad_answer',
      'bad_answer',
      'bad_api_key',
      'network_failure',
    ])
    const aborted = await client.graphql('{ __typename }', {}, { signal: AbortSignal.abort() })
    expect(aborted.error?.code).toBe('network_failure')
  })
})

describe('clients that people know, as they are', () => {
  const url = (): string => `${server.url}/graphql/v1`

  it('include Apollo', async () => {
    const { fetch } = await writer('By Apollo')
    const client = new ApolloClient({ link: new HttpLink({ uri: url(), fetch }), cache: new InMemoryCache() })
    const { data } = await client.query<Titles>({ query: gql(titlesText) })
    expect(titlesOf(data)).toEqual(['By Apollo'])
    await client.mutate({ mutation: gql(insert), variables: { title: 'Again' } })
    const again = await client.query<Titles>({ query: gql(titlesText), fetchPolicy: 'network-only' })
    expect(titlesOf(again.data)).toEqual(['By Apollo', 'Again'])
  })

  it('include urql', async () => {
    const { fetch } = await writer('By urql')
    const client = createUrql({ url: url(), exchanges: [fetchExchange], fetch, preferGetMethod: false })
    const { data, error } = await client.query<Titles>(titlesText, {}).toPromise()
    expect([titlesOf(data), error]).toEqual([['By urql'], undefined])
  })

  it('include graphql-request', async () => {
    const { fetch } = await writer('By graphql-request')
    const client = new GraphQLClient(url(), { fetch })
    expect(titlesOf(await client.request<Titles>(titlesText))).toEqual(['By graphql-request'])
    const stranger = new GraphQLClient(url(), { fetch: open().fetch })
    expect(titlesOf(await stranger.request<Titles>(titlesText))).toEqual([])
  })

  it('or fetch itself, which gives key and token to the project alone', async () => {
    const seen: Request[] = []
    const client = open(async (input, init) => {
      seen.push(new Request(input, init))
      return fetch(input, init)
    })
    await client.auth.signUp({ email: `${randomUUID()}@example.com`, password: 'correct horse' })
    seen.length = 0
    await client.fetch('/auth/v1/user')
    await client.fetch(new URL(`${server.url}/auth/v1/user`), { headers: { authorization: 'Bearer mine' } })
    await client.fetch('http://127.0.0.1:9/elsewhere').catch(() => undefined)
    await client.fetch(server.url.replace('127.0.0.1', 'localhost')).catch(() => undefined)
    const headers = seen.map((request) => [
      request.headers.get('apikey'),
      request.headers.get('authorization')?.slice(7),
    ])
    const { session } = (await client.auth.getSession()).data
    expect(claimsOf(session?.access_token ?? '')['role']).toBe('authenticated')
    expect(headers).toEqual([
      [server.anon, session?.access_token],
      [server.anon, 'mine'],
      [null, undefined],
      [null, undefined],
    ])
  })
})

describe('the text of a parsed document', () => {
  /** A tree without what its spelling was. */
  const bare = (document: DocumentNode): unknown =>
    JSON.parse(
      JSON.stringify(
        visit(document, {
          enter: ({ loc: _loc, ...node }) => (node.kind === 'StringValue' ? { ...node, block: undefined } : node),
        }),
      ),
    )
  const expectSame = (text: string): void => {
    const document = parse(text, { allowLegacyFragmentVariables: false })
    expect(bare(parse(printDocument(document)))).toEqual(bare(document))
  }

  it('parses to the same tree, for every document of the fixtures', () => {
    const folder = new URL('../../../fixtures', import.meta.url).pathname
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.graphql'))
    const texts = names
      .filter((name) => name.includes('operations'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(texts.length).toBeGreaterThan(10)
    for (const text of texts) expectSame(text)
  })

  it('parses to the same tree, for every construct', () => {
    expectSame(`
      query Q($a: [Int!]! = [1, -2] @d, $b: In = {x: 1.5e3, y: {z: null}, w: [true, RED, "s"]}) @d(if: true) @e {
        alias: field(a: $a, b: "q\\"\\\\\\u00e9 \\n", c: [$a, {d: $a}]) @include(if: $c) {
          ...F @d ... on T @d { a } ... @d { b } ... { c }
        }
      }
      mutation { m }
      subscription S { s(text: """ block "quoted" \\""" \\ end """) }
      fragment F on T @d { a }`)
    expectSame('{ a }')
  })

  it('holds any string and number', () => {
    const value = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
        fc
          .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
          .map((number) => JSON.stringify(number)),
        fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(' ')}]`),
        fc
          .array(tie('value'), { maxLength: 3 })
          .map((values) => `{${values.map((one, at) => `k${at}: ${one}`).join(' ')}}`),
      ),
    })).value
    fc.assert(fc.property(value, (text) => expectSame(`{ a(b: ${text}) }`)))
  })
})
