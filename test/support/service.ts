import { createCompiler } from '../../compiler/compile.ts'
import type { Caller, Exchange } from '../../runtime/contract/execution.ts'
import type { Revision } from '../../runtime/contract/artifact.ts'
import { openDatabase, type Database } from '../../runtime/db/pool/pool.ts'
import { versionExpression } from '../../runtime/db/check/version.ts'
import type { WatchAnswer } from '../../runtime/graphql/run/pipeline.ts'
import { createService, createThread } from '../../compiler/additions/service.ts'
import { createApart } from '../../runtime/graphql/apart/apart.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../runtime/graphql/protocol/request-and-answer.ts'
import { createDatabase, forPostgis, openQuery, type Major, type TestDatabase } from './database.ts'

/** An answer with its body as text, however it came. */
interface ServedText extends GraphqlResponse {
  readonly body: string
}

/** A service and its database, whatever it is made of. */
export interface AskedService {
  readonly db: TestDatabase
  /** The parsed body of the answer. */
  readonly graphql: (query: string | null, options?: AskOptions) => Promise<Answer>
  /** The result of compiling the database. */
  readonly revision: () => Promise<Revision>
  readonly close: () => Promise<void>
}

/** The whole path from a document to its answer on a real database, without HTTP. */
export interface TestService extends AskedService {
  readonly serve: (query: string | null, options?: AskOptions) => Promise<ServedText>
  readonly watch: (query: string, options?: AskOptions) => Promise<WatchAnswer>
  /** How often the schema was compiled. */
  readonly compiled: () => number
  /** The statements sent to the database, newest last. */
  readonly exchanges: Exchange[]
}

export interface AskOptions {
  readonly variables?: Readonly<Record<string, unknown>>
  readonly operationName?: string
  readonly role?: string
  readonly claims?: Readonly<Record<string, unknown>>
  readonly extensions?: Readonly<Record<string, unknown>>
  readonly queryOnly?: boolean
  /** As a run of a stream. */
  readonly live?: boolean
}

export interface Answer {
  // Tests look into answers of any shape
  readonly data: any
  readonly extensions?: Readonly<Record<string, unknown>>
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly unknown[]
    readonly extensions: { readonly code: string; readonly sqlstate?: string }
  }[]
}

export interface TestServiceOptions {
  readonly sql?: string
  readonly major?: Major
  readonly schemas?: readonly string[]
  /** True for tests that create, grant or alter roles: see TestDatabaseOptions. */
  readonly isolated?: boolean
  /** Why the database must belong to a superuser: see TestDatabaseOptions. */
  readonly superuser?: string
  /** The role that asks unless a question names another. */
  readonly role?: string
  readonly statementTimeout?: number
  /** The clock of the service, in milliseconds. */
  readonly now?: () => number
  /** True: as if live tables had their triggers, for tests of requests, not of reported changes. */
  readonly withTriggers?: boolean
  /** A database that was made elsewhere; it goes with the service. */
  readonly database?: TestDatabase
}

/** As if live tables had their triggers. */
export const allTriggers = { hasTriggers: 'true', install: () => Promise.resolve({ isWhole: false, awaited: [] }) }

/** Of the services of all test files of a worker: to start a thread takes longer than most of what it reads. */
export const apart = createApart(createThread())

/** Reads the catalogue and compiles it, each time again. */
export const revisionSource =
  (query: Database['query'], schemas: readonly string[], withTriggers = false): (() => Promise<Revision>) =>
  async () => {
    const compiler = createCompiler({
      query: (text, values) => query(text, values),
      schemas,
      version: versionExpression,
      ...(withTriggers && { triggers: allTriggers }),
    })
    return (await compiler.compile()).revision
  }

/** The caller and the request. */
export function askedAs(query: string | null, ask: AskOptions): [GraphqlRequest, Caller] {
  const { role = 'anon' } = ask
  const request = {
    query,
    operationName: ask.operationName ?? null,
    variables: ask.variables ?? {},
    extensions: ask.extensions ?? {},
    queryOnly: ask.queryOnly ?? false,
    live: ask.live ?? false,
  }
  return [request, { role, claims: JSON.stringify({ role, ...ask.claims }) }]
}

export async function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const schemas = options.schemas ?? ['public']
  const db =
    options.database ??
    (await createDatabase({
      prepare: true,
      ...(options.sql !== undefined && { sql: options.sql, ...forPostgis(options.sql) }),
      ...(options.major !== undefined && { major: options.major }),
      ...(options.isolated !== undefined && { isolated: options.isolated }),
      ...(options.superuser !== undefined && { superuser: options.superuser }),
    }))
  const database = openDatabase({
    url: db.url,
    schemas,
    poolSize: 4,
    ...(options.statementTimeout !== undefined && { statementTimeout: options.statementTimeout }),
  })
  // One session, which keeps the plan of what it reads.
  const reading = openQuery(db.url)
  const compile = revisionSource(reading.query, schemas, options.withTriggers)
  let count = 0
  const revision = (): Promise<Revision> => {
    count += 1
    return compile()
  }
  let last: Revision | null = null
  const source = async (): Promise<Revision> => {
    const { rows } = await database.query<{ version: string }>(`select ${versionExpression} as version`)
    if (last === null || last.version !== rows[0]?.version) last = await revision()
    return last
  }
  const exchanges: Exchange[] = []
  const run: typeof database.run = (exchange) => {
    exchanges.push(exchange)
    return database.run(exchange)
  }
  const service = createService({
    database: { run },
    source,
    apart,
    ...(options.now !== undefined && { now: options.now }),
  })
  const asked = (query: string | null, ask: AskOptions) => askedAs(query, { role: options.role ?? 'anon', ...ask })
  const serve: TestService['serve'] = async (query, ask = {}) => {
    const { outcome, body } = await service.serve(...asked(query, ask))
    return { outcome, body: body.toString() }
  }
  return {
    db,
    serve,
    watch: (query, ask = {}) => service.watch(...asked(query, ask)),
    graphql: async (query, ask) => JSON.parse((await serve(query, ask)).body) as Answer,
    compiled: () => count,
    revision,
    exchanges,
    close: async () => {
      await database.close()
      await reading.end()
      await db.drop()
    },
  }
}
