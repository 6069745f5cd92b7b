import type { RequestContext, RunExchange } from '../../runtime/contract/execution.ts'
import { createCompiler } from '../../compiler/compile.ts'
import { createFollower } from '../../compiler/following/serving/followed-source.ts'
import { writtenExpression } from '../../compiler/catalog/written.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { createService } from '../../compiler/additions/service.ts'
import { apart, type Answer, type AskOptions } from './service.ts'

/** The parts of one serving process: its own pool, compiler, follower and engine. */
export interface FollowedService {
  readonly graphql: (query: string, options?: AskOptions & { readonly context?: RequestContext }) => Promise<Answer>
  /** How often the schema was compiled. */
  readonly compiled: () => number
  readonly close: () => Promise<void>
}

export interface FollowedOptions {
  readonly schemas?: readonly string[]
  /** False: as where event triggers may not be made. */
  readonly counted?: boolean
  readonly now?: () => number
  /** Called before each compile; what it throws fails the compile. */
  readonly compiling?: () => void
  /** Called before each exchange of a request. */
  readonly asking?: () => Promise<void>
}

/** Serves the database of `url`, whose preparation is done, as a process of its own would. */
export function followDatabase(url: string, options: FollowedOptions = {}): FollowedService {
  const { schemas = ['public'], counted = true, now = Date.now, compiling = () => undefined, asking } = options
  const database = openDatabase({ url, schemas, poolSize: 4, statementTimeout: 10_000 })
  const version = counted ? versionExpression : writtenExpression
  const { query } = database
  let count = 0
  const recorded = counted ? { counter: counterExpression } : {}
  const inner = createCompiler({ query, schemas, version, ...recorded })
  const compiler: typeof inner = {
    ...inner,
    compile: async (last) => {
      compiling()
      const made = await inner.compile(last)
      if (made !== last) count += 1
      return made
    },
  }
  const source = createFollower({ compiler, query, version, guarded: counted, report: () => undefined, now })
  const run: RunExchange = async (...exchange) => {
    await asking?.()
    return database.run(...exchange)
  }
  const service = createService({ database: { run }, source, apart, now })
  return {
    graphql: async (query, { role = 'anon', variables = {}, context } = {}) => {
      const request = { query, operationName: null, variables, extensions: {}, queryOnly: false }
      const { body } = await service.serve(request, { role, claims: JSON.stringify({ role }) }, context)
      return JSON.parse(body.toString()) as Answer
    },
    compiled: () => count,
    close: database.close,
  }
}
