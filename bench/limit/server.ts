import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import fastify from 'fastify'
import pg from 'pg'
import { operations } from '../blog/operations.ts'
import { handWritten, type HandWritten } from '../blog/sql.ts'
import { createAsk } from './pipeline.ts'

/**
 * The hand-written limit: the cost of an endpoint that knows its four operations beforehand. Fastify, a token that is
 * verified once and then cached until it expires, a map from document to SQL, one pipelined round trip, and the JSON of
 * Postgres passed on. It sets role and claims and lets row-level security decide, as the product does; it validates and
 * coerces nothing, does not detect changes of the schema and has one kind of error.
 */

const need = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

interface Caller {
  readonly role: string
  readonly claims: string
  readonly expires: number
}

const secret = createSecretKey(Buffer.from(need('JWT_SECRET')))
const callers = new Map<string, Caller>()

const verify = (token: string): Caller => {
  const [head = '', payload = '', signature = ''] = token.split('.')
  const expected = createHmac('sha256', secret).update(`${head}.${payload}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error('bad signature')
  const claims = Buffer.from(payload, 'base64url').toString()
  const { role, exp } = JSON.parse(claims) as { readonly role: string; readonly exp: number }
  return { role, claims, expires: exp * 1_000 }
}

const callerOf = (authorization: string): Caller => {
  const known = callers.get(authorization)
  const caller = known ?? verify(authorization.slice('Bearer '.length))
  if (known === undefined) callers.set(authorization, caller)
  if (caller.expires <= Date.now()) throw new Error('expired')
  return caller
}

const documents = new Map<string, HandWritten>()
for (const { name, document } of operations) {
  const statement = handWritten[name]
  if (statement !== undefined) documents.set(document, statement)
}

const ask = createAsk(
  new pg.Pool({
    connectionString: need('DATABASE_URL'),
    max: 8,
    idleTimeoutMillis: 0,
    options: '-c max_parallel_workers_per_gather=0 -c jit=off -c TimeZone=UTC',
  }),
)

interface Body {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

const app = fastify({ logger: false })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
  done(null, JSON.parse(body as string)),
)
app.get('/health', () => ({}))
app.post<{ Body: Body }>('/graphql/v1', async (request, reply) => {
  const { role, claims } = callerOf(request.headers.authorization ?? '')
  const { query, variables } = request.body
  const statement = documents.get(query)
  if (statement === undefined) return reply.code(400).send()
  const { name, text, values } = statement
  const data = await ask(role, claims, { name, text, values: values(variables) })
  return reply.header('content-type', 'application/json; charset=utf-8').send(`{"data":${data}}`)
})
await app.listen({ host: '127.0.0.1', port: Number(need('PORT')) })
process.once('SIGTERM', () => process.exit())
