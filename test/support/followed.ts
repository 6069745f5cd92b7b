import { createCompiler } from '../../compiler/compile.ts'
import { createFollower } from '../../compiler/follow.ts'
import { writtenExpression } from '../../compiler/catalog/written.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { createService } from '../../runtime/graphql/serve.ts'
import type { Answer, AskOptions } from './service.ts'

/** What one serving process is made of: its own pool, compiler, follower and engine. */
export interface FollowedService {
  readonly graphql: (query: string, options?: AskOptions) => Promise<Answer>
  /** How often the catalogue was read. */
  readonly reads: () => number
  readonly close: () => Promise<void>
}

export interface FollowedOptions {
  readonly schemas?: readonly string[]
  /** False: as where event triggers may not be made. */
  readonly counted?: boolean
  readonly now?: () => number
  /** Called before each compile; what it throws fails the compile. */
  readonly compiling?: () => void
}

/** Serves the database of `url`, whose preparation is done, as a process of its own would. */
export function followDatabase(url: string, options: FollowedOptions = {}): FollowedService {
  const { schemas = ['public'], counted = true, now = Date.now, compiling = () => undefined } = options
  const database = openDatabase({ url, schemas, poolSize: 4, statementTimeout: 10_000 })
  const version = counted ? versionExpression : writtenExpression
  let reads = 0
  const query: typeof database.query = (text, values, name) => {
    if (text.includes("'facts' as part")) reads += 1
    return database.query(text, values, name)
  }
  const recorded = counted ? { counter: counterExpression } : {}
  const inner = createCompiler({ query, schemas, version, ...recorded })
  const compiler: typeof inner = {
    compile: async () => {
      compiling()
      return inner.compile()
    },
  }
  const source = createFollower({ compiler, query, version, guarded: counted, report: () => undefined, now })
  const service = createService({ database, source, now })
  return {
    graphql: async (query, ask = {}) => {
      const role = ask.role ?? 'anon'
      const request = { query, operationName: null, variables: ask.variables ?? {}, extensions: {}, queryOnly: false }
      const { body } = await service.serve(request, { role, claims: JSON.stringify({ role }) })
      return JSON.parse(body.toString()) as Answer
    },
    reads: () => reads,
    close: database.close,
  }
}
