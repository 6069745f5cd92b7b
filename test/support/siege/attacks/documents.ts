import { asking } from '../callers.ts'
import type { Attack } from '../arms.ts'

/** Documents within the body limit that are dear to read. */

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')

/** 644 KB, refused for its repetition. */
const repetitive = (): string => `{ ${times(20_000, () => 'articlesCollection{edges{node{id}}}')} }`

export interface DearDocument {
  readonly name: string
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
}

export const dearDocuments = (): readonly DearDocument[] => [
  { name: '20000 selections', query: repetitive() },
  {
    name: '9000 operations and fragments',
    query: times(9_000, (n) => `query Q${n} { ...F${n} } fragment F${n} on Query { __typename }`),
  },
  { name: '300000 directives', query: `{ __typename ${'@a '.repeat(300_000)} }` },
  {
    name: '60000 conditions',
    query: `{ articlesCollection(filter: {or: [${times(60_000, () => '{id:{eq:1}},')}]}) { edges { node { id } } } }`,
  },
  {
    name: '60000 values of an in',
    query: 'query($ids: [Int!]) { articlesCollection(filter: {id: {in: $ids}}) { edges { node { id } } } }',
    variables: { ids: Array.from({ length: 60_000 }, (_, index) => index) },
  },
  { name: '100000 levels', query: '{ a '.repeat(100_000) + '}'.repeat(100_000) },
  { name: '400000 opening brackets', query: `{ a(b: ${'['.repeat(400_000)}` },
  { name: '50000 variables', query: `query(${times(50_000, (n) => `$v${n}: Int`)}) { __typename }` },
  { name: '40000 unknown fields', query: `{ ${times(40_000, (n) => `field${n}`)} }` },
  { name: '50000 fragment spreads', query: `{ ${'...F '.repeat(50_000)} } fragment F on Query { __typename }` },
  { name: 'a name of 900 KB', query: `{ ${'a'.repeat(900_000)} }` },
  { name: 'a string of 900 KB', query: `{ nap(seconds: "${'x'.repeat(900_000)}", mark: 1) }` },
  { name: '900000 commas', query: `{ __typename ${','.repeat(900_000)} }` },
  {
    name: 'fragments that double 30 times',
    query: `{ ...F0 } ${times(30, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)}
      fragment F30 on Query { __typename }`,
  },
  { name: '20000 aliases', query: `{ ${times(20_000, (n) => `a${n}: articlesByPk(id: ${n}) { id }`)} }` },
  { name: '3000 calls of a function', query: `{ ${times(3_000, (n) => `a${n}: nap(seconds: 0, mark: 0)`)} }` },
  { name: '400 introspections', query: `{ ${times(400, (n) => `t${n}: __type(name: "Articles") { name }`)} }` },
]

/** Again and again the same text, which a server may remember. */
const same: Attack['run'] = async (arms) => {
  const bytes = asking(arms.anon, repetitive())
  for (let sent = 0; sent < 10 && !arms.isOver(); sent += 1) {
    await Promise.race([arms.ask(bytes), arms.rest(200)])
  }
  await arms.rest(10_000)
}

/** Each time another text, which it has never seen. */
const distinct: Attack['run'] = async (arms) => {
  const documents = dearDocuments()
  while (!arms.isOver()) {
    const { query, variables } = documents[arms.random(documents.length)] as DearDocument
    await arms.ask(asking(arms.anon, `${query}\n# ${arms.random(1e9)}`, variables))
    await arms.rest(200)
  }
}

/** Small ones, but never the same twice. */
const parade: Attack['run'] = async (arms) => {
  const address = arms.address()
  while (!arms.isOver()) {
    const documents = Array.from({ length: 20 }, () => `{ a${arms.random(1e9)}: articlesByPk(id: 1) { id } }`)
    await Promise.all(documents.map((query) => arms.ask(asking(arms.anon, query), { address })))
    await arms.rest(50)
  }
}

const bodies: readonly string[] = [
  `{"query":"{ __typename }","variables":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
  `{"query":"{ __typename }","variables":{${times(60_000, (n) => `"k${n}":${n}${n === 59_999 ? '' : ','}`)}}}`,
  `[${times(20_000, (n) => `{"query":"{ __typename }"}${n === 19_999 ? '' : ','}`)}]`,
  `{"query":${'"'.padEnd(900_000, '\\u0041')}"}`,
  `{"query":"{ __typename }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"${'a'.repeat(900_000)}"}}}`,
]

const jsonBombs: Attack['run'] = async (arms) => {
  const { headers } = arms.anon
  while (!arms.isOver()) {
    const body = bodies[arms.random(bodies.length)] ?? ''
    const lines = Object.entries({ ...headers, host: 'town', 'content-type': 'application/json' })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const length = Buffer.byteLength(body)
    await arms.ask(Buffer.from(`POST /graphql/v1 HTTP/1.1\r\n${head}content-length: ${length}\r\n\r\n${body}`))
    await arms.rest(100)
  }
}

export const documents: readonly Attack[] = [
  {
    name: 'the same long document',
    does: 'ten documents of 644 KB with 20,000 selections',
    relaxes: {},
    run: same,
  },
  {
    name: 'dear documents',
    does: 'documents that are dear to lex, parse, validate or plan, each time another text',
    relaxes: {},
    run: distinct,
  },
  { name: 'a parade of documents', does: 'small documents, none of them seen before', relaxes: {}, run: parade },
  { name: 'JSON that is dear', does: 'bodies that are dear to parse', relaxes: {}, run: jsonBombs },
]
