import { createCompiler } from '../../compiler/compile.ts'
import { buildApp } from '../../runtime/app.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { versionExpression } from '../../runtime/db/check/version.ts'
import { createService } from '../../compiler/additions/service.ts'
import { createDatabase } from '../../test/support/database.ts'
import { hostileSql } from '../../test/support/hostile-documents.ts'
import { healthy } from '../../test/support/healthy.ts'

export interface Subject {
  /** Sends a body; returns `ok`, or the code of the first error. */
  readonly ask: (body: Buffer) => Promise<string>
  readonly close: () => Promise<void>
}

const caller = { role: 'anon', claims: '{"role":"anon"}' }
const headers = { 'content-type': 'application/json' }

/** The application on a database with one table. */
export const openSubject = async (): Promise<Subject> => {
  const db = await createDatabase({ prepare: true, sql: hostileSql })
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 4 })
  const { query } = database
  const compiler = createCompiler({ query, schemas: ['public'], version: versionExpression })
  const service = createService({ database, source: async () => (await compiler.compile()).revision })
  const { fastify: app } = buildApp({
    authenticate: async () => ({ kind: 'caller', caller }),
    serving: { serve: service.serve },
    health: healthy,
    log: () => undefined,
    logsRequests: false,
    bodyLimitBytes: 1_048_576,
    requestTimeoutMs: 0,
    auth: null,
  })
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql/v1`
  const ask = async (payload: Buffer): Promise<string> => {
    const body = await (await fetch(url, { method: 'POST', headers, body: payload })).text()
    const code = /"code":"(\w+)"/.exec(body.slice(0, 10_000))?.[1]
    return body.startsWith('{"data":{') ? 'ok' : (code ?? body.slice(0, 80))
  }
  // The compiled code of a server after some time.
  for (let index = 0; index < 300; index += 1) {
    await ask(
      Buffer.from(
        JSON.stringify({ query: `{${'a:__typename '.repeat(20)}b${index}:notesCollection{edges{node{id}}}}` }),
      ),
    )
  }
  return {
    ask,
    close: async () => {
      await app.close()
      await database.close()
      await db.drop()
    },
  }
}
