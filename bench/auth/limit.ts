import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import pg from 'pg'
import { createPasswords } from '../../runtime/auth/secrets/passwords.ts'
import { linkKey, linkToken, newCode, newSalt } from '../../runtime/auth/secrets/one-time-tokens.ts'
import { equalTexts } from '../../runtime/auth/rules/credentials.ts'
import { newRefreshToken } from '../../runtime/auth/accounts/sign-in.ts'
import * as statements from './limit-statements.ts'
import { createTokens, type Tokens } from './limit-tokens.ts'

/**
 * The limit: hand-written code for these endpoints alone, on the same Fastify, `pg`, hashing library and queue. It does
 * the same security work: the key and the bearer token are verified, user and session rows are read for every call,
 * bans apply, one token is rotated under its session's lock, a guess is counted before it is compared, a code is spent
 * by the statement that finds it, an action leaves its audit row. It answers the same objects, which Postgres prints.
 * It has no settings, no limits by address, and no readable errors.
 *
 * /hash and /new-hash only hash: sign-in and sign-up cannot be faster. /sign-in and /sign-up do everything else.
 */
export interface LimitOptions {
  readonly port: number
  readonly databaseUrl: string
  readonly secret: string
  readonly apikey: string
  /** A bcrypt hash of the password for /hash. */
  readonly storedHash: string
  readonly poolSize: number
}

type Body = Readonly<Record<string, string>>
type Tool = Tools & LimitOptions

interface Tools {
  readonly query: (name: string, text: string, values: readonly unknown[]) => Promise<Row | null>
  readonly tokens: Tokens
  readonly passwords: ReturnType<typeof createPasswords>
  readonly key: Buffer
}

/** A row of any of the statements. */
interface Row {
  readonly id: string
  readonly body: string
  readonly claims: object
  readonly salt: Buffer
  readonly token: string
  readonly encrypted_password: string
}

/** Listens on 127.0.0.1. */
export async function startLimit(options: LimitOptions): Promise<void> {
  const pool = new pg.Pool({ connectionString: options.databaseUrl, max: options.poolSize })
  const tools: Tool = {
    ...options,
    query: async (name, text, values) => (await pool.query<Row>({ name, text, values: [...values] })).rows[0] ?? null,
    tokens: createTokens(options.secret),
    passwords: createPasswords(),
    key: linkKey(options.secret),
  }
  const app = fastify({ logger: false })
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers['apikey'] !== options.apikey) return reply.code(401).send()
    return undefined
  })
  register(app, tools)
  await app.listen({ host: '127.0.0.1', port: options.port })
}

function register(app: FastifyInstance, tools: Tool): void {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/user', (request, reply) => user(request, reply, tools))
  app.post('/refresh', (request, reply) => refresh(request, reply, tools))
  app.post('/verify', (request, reply) => verify(request, reply, tools))
  app.post('/sign-in', (request, reply) => signIn(request, reply, tools))
  app.post('/sign-up', (request, reply) => signUp(request, reply, tools))
  app.post('/hash', async (request) => ({
    right: await tools.passwords.compare(bodyOf(request)['password'] ?? '', tools.storedHash),
  }))
  app.post('/new-hash', async (request) => ({ hash: await tools.passwords.hash(bodyOf(request)['password'] ?? '') }))
}

const bodyOf = (request: FastifyRequest): Body => request.body as Body

const asJson = (reply: FastifyReply, text: string): FastifyReply =>
  reply.header('content-type', 'application/json; charset=utf-8').send(text)

const refuse = (reply: FastifyReply): FastifyReply => reply.code(400).send()

async function user(request: FastifyRequest, reply: FastifyReply, { query, tokens }: Tool): Promise<FastifyReply> {
  const claims = tokens.read((request.headers.authorization ?? '').replace(/^Bearer /, ''))
  if (claims === null) return reply.code(403).send()
  const found = await query('user', statements.readUser, [claims['sub'], claims['session_id']])
  return found === null ? refuse(reply) : asJson(reply, found.body)
}

async function refresh(request: FastifyRequest, reply: FastifyReply, tools: Tool): Promise<FastifyReply> {
  const child = newRefreshToken()
  const values = [bodyOf(request)['refresh_token'], child, ...traitsOf(request)]
  return sendSession(reply, tools, await tools.query('rotate', statements.rotateToken, values), child)
}

async function verify(request: FastifyRequest, reply: FastifyReply, tools: Tool): Promise<FastifyReply> {
  const { email = '', token: code = '' } = bodyOf(request)
  const guess = await tools.query('guess', statements.takeGuess, [email])
  if (guess === null) return refuse(reply)
  const { id, salt, token } = guess
  const expected = linkToken(tools.key, { purpose: 'confirmation', address: email, code, salt })
  if (!equalTexts(expected, token)) return refuse(reply)
  const child = newRefreshToken()
  const values = [id, randomUUID(), child, ...traitsOf(request), 'otp', token]
  return sendSession(reply, tools, await tools.query('confirm', statements.confirmAndBegin, values), child)
}

/** A sign-in without the hash. */
async function signIn(request: FastifyRequest, reply: FastifyReply, tools: Tool): Promise<FastifyReply> {
  const found = await tools.query('password', statements.readPassword, [bodyOf(request)['email']])
  if (found === null) return refuse(reply)
  const child = newRefreshToken()
  const values = [found.id, randomUUID(), child, ...traitsOf(request), 'password', found.encrypted_password]
  return sendSession(reply, tools, await tools.query('begin', statements.beginByPassword, values), child)
}

/** A sign-up without the hash. */
async function signUp(request: FastifyRequest, reply: FastifyReply, tools: Tool): Promise<FastifyReply> {
  const { email = '' } = bodyOf(request)
  const [id, code, salt] = [randomUUID(), newCode(), newSalt()]
  const token = linkToken(tools.key, { purpose: 'confirmation', address: email, code, salt })
  const metadata = { sub: id, email, email_verified: false, phone_verified: false }
  const mail = `<p>Your code is ${code}</p><p><a href="https://app.example.com/verify?token=${token}">Confirm</a></p>`
  const values = [email, tools.storedHash, token, salt, metadata, mail, id, request.ip]
  const made = await tools.query('account', statements.insertAccount, values)
  return made === null ? refuse(reply) : asJson(reply, made.body)
}

const traitsOf = (request: FastifyRequest): readonly unknown[] => [request.headers['user-agent'], request.ip]

function sendSession(reply: FastifyReply, { tokens }: Tool, row: Row | null, refreshToken: string): FastifyReply {
  if (row === null) return refuse(reply)
  const iat = Math.floor(Date.now() / 1000)
  const exp = iat + 3600
  const jwt = tokens.sign({ iss: 'http://127.0.0.1/auth/v1', ...row.claims, aal: 'aal1', iat, exp })
  const head = { access_token: jwt, token_type: 'bearer', expires_in: 3600, expires_at: exp }
  const text = JSON.stringify({ ...head, refresh_token: refreshToken })
  return asJson(reply, `${text.slice(0, -1)},"user":${row.body}}`)
}
