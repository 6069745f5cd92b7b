import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { signToken } from '../../runtime/identity/jwt.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { caller, operations, persisted, type Operation } from '../blog/operations.ts'
import type { BlogSize } from '../blog/data.ts'
import { compileApplication } from '../support/documents.ts'
import { httpRequest } from '../support/http-client.ts'
import { projectFolder } from '../support/record.ts'
import { startServer, type Server } from '../support/servers.ts'

/** The measured servers of the blog, each with equivalent requests. */
export interface Subject {
  readonly name: string
  readonly server: Server
  /** The bytes of a request with new variables. */
  readonly request: (operation: Operation, size: BlogSize) => Buffer
}

export interface Access {
  readonly secret: string
  readonly apikey: string
  readonly token: string
}

/** The claims of a token as auth issues it. */
const claimsOfNow = () => {
  const seconds = Math.floor(Date.now() / 1_000)
  return {
    iss: 'http://127.0.0.1/auth/v1',
    sub: String(caller),
    aud: 'authenticated',
    exp: seconds + 86_400,
    iat: seconds,
    email: 'user42@example.com',
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {},
    role: 'authenticated',
    aal: 'aal1',
    amr: [{ method: 'password', timestamp: seconds }],
    session_id: '00000000-0000-4000-8000-000000000042',
    is_anonymous: false,
  }
}

/** The token of another caller of the same project. */
export const accessAs = async (
  { secret, apikey }: Pick<Access, 'secret' | 'apikey'>,
  claims: Readonly<Record<string, unknown>>,
): Promise<Access> => ({ secret, apikey, token: await signToken({ ...claimsOfNow(), ...claims }, secret) })

/** The keys of a project and the token of its first caller. */
export const createAccess = async (): Promise<Access> => {
  const secret = randomBytes(32).toString('hex')
  return accessAs({ secret, apikey: (await projectKeys(secret)).anon }, {})
}

const draw = (limit: number): number => 1 + Math.floor(Math.random() * limit)

/** A request of the signed-in caller. */
export const postTo = (path: string, { apikey, token }: Access, body: unknown): Buffer =>
  httpRequest({ path, headers: { apikey, authorization: `Bearer ${token}` }, body })

const byText =
  (access: Access): Subject['request'] =>
  ({ document, variables }, size) =>
    postTo('/graphql/v1', access, { query: document, variables: variables(draw, size) })

/** The requests of each operation to the product. */
export const requestsOf =
  (access: Access): Subject['request'] =>
  (operation, size) => {
    if (operation !== persisted) return byText(access)(operation, size)
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256Hex(operation.document) } }
    return postTo('/graphql/v1', access, { extensions, variables: operation.variables(draw, size) })
  }

const theirs =
  (access: Access): Subject['request'] =>
  ({ variables, peer }, size) =>
    postTo('/graphql', access, { query: peer, variables: variables(draw, size) })

const health = httpRequest({ method: 'GET', path: '/health' })

/** The request that is repeated until a server answers: a server of compiled documents must have it. */
export const readyDocument = '{ __typename }\n'

/** The product as `catalograph serve` runs it, built in `folder`. */
export const startProduct = async (
  db: TestDatabase,
  access: Access,
  options: {
    readonly name?: string
    readonly folder?: string
    readonly nodeOptions?: readonly string[]
    readonly args?: readonly string[]
    /** Settings besides the common ones. */
    readonly env?: Readonly<Record<string, string>>
    readonly patienceMs?: number
  } = {},
): Promise<Subject> => {
  const { name = 'catalograph', folder = projectFolder, nodeOptions = [], args = [], env = {}, patienceMs } = options
  const server = await startServer({
    name,
    args: [...nodeOptions, join(folder, 'dist/compiler/cli.js'), 'serve', ...args],
    env: {
      DATABASE_URL: db.url,
      DATABASE_OWNER_URL: db.ownerUrl,
      JWT_SECRET: access.secret,
      LOG_LEVEL: 'warn',
      ...env,
    },
    ready: postTo('/graphql/v1', access, { query: readyDocument }),
    ...(patienceMs !== undefined && { patienceMs }),
  })
  return { name, server, request: requestsOf(access) }
}

/** The product with only the compiled documents of all operations. */
export const startCompiledOnly =
  (folder: string) =>
  async (db: TestDatabase, access: Access): Promise<Subject> => {
    const texts = [...operations.map(({ document }) => document), readyDocument]
    const artifacts = await compileApplication(db, folder, texts)
    return startProduct(db, access, { name: 'only compiled', args: ['--artifacts', artifacts, '--only-compiled'] })
  }

export const startLimit = async (
  db: TestDatabase,
  access: Access,
  nodeOptions: readonly string[] = [],
): Promise<Subject> => {
  const server = await startServer({
    name: 'limit',
    args: [...nodeOptions, join(projectFolder, 'bench/dist/bench/limit/server.js')],
    env: { DATABASE_URL: db.url, JWT_SECRET: access.secret },
    ready: health,
  })
  return { name: 'limit', server, request: byText(access) }
}

/** PostGraphile 5 from its own package, on the Node 22 that it needs. */
export const startPeer = async (db: TestDatabase, access: Access): Promise<Subject> => {
  const folder = join(projectFolder, 'bench/postgraphile')
  const program = join(folder, 'node_modules/node/bin/node')
  if (!existsSync(program)) throw new Error('The peer is not installed: npm ci --prefix bench/postgraphile')
  const server = await startServer({
    name: 'postgraphile',
    program,
    args: ['server.mjs'],
    cwd: folder,
    env: { DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl, JWT_SECRET: access.secret },
    ready: postTo('/graphql', access, { query: '{ __typename }' }),
  })
  return { name: 'postgraphile', server, request: theirs(access) }
}

export const operationNamed = (name: string): Operation => {
  const found = operations.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`There is no operation ${name}.`)
  return found
}
