import { AsyncLocalStorage } from 'node:async_hooks'
import fastify from 'fastify'
import { mailRequestActs } from '../../runtime/auth/endpoints/mail-request-acts.ts'
import { createMailer } from '../../runtime/auth/mails/create-mailer.ts'
import { openAuth } from '../../runtime/auth/http/open.ts'
import { registerAuth } from '../../runtime/auth/http/register.ts'
import type { AuthTools } from '../../runtime/auth/accounts/tools.ts'
import type { RunStatement, StatementsDatabase } from '../../runtime/db/pool/statements.ts'
import { createTokenVerifier } from '../../runtime/identity/jwt.ts'
import { hashCost, secret } from './auth.ts'
import type { Stage } from './interleavings/stage.ts'

/** A process that serves auth and nothing else, as far as its clients and its database can see. */
export interface Instance {
  readonly url: string
  /** Its tools; their statements do not wait for others. */
  readonly tools: AuthTools
  readonly stop: () => Promise<void>
}

/** Says which actor a request is of. */
export const actorHeader = 'x-test-actor'

export interface InstanceOptions {
  readonly databaseUrl: string
  readonly poolSize: number
  /** Where statements of requests that name an actor wait for their turn; null: nowhere. */
  readonly stage: Stage | null
}

export async function startInstance({ databaseUrl, stage, poolSize }: InstanceOptions): Promise<Instance> {
  const place = { url: '' }
  const baseUrl = (): string => place.url
  const auth = openAuth({
    url: databaseUrl,
    poolSize,
    secret,
    baseUrl,
    issuers: { google: 'https://none.test' },
    now: Date.now,
    hashCost,
    log: complain,
  })
  const actors = new AsyncLocalStorage<number>()
  const tools = stage === null ? auth.tools : staged(auth.tools, { actors, stage })
  const app = fastify({ logger: false })
  app.addHook('preHandler', (request, _reply, done) => {
    const actor = request.headers[actorHeader]
    if (actor === undefined) done()
    else actors.run(Number(actor), done)
  })
  const verify = createTokenVerifier({ secret, now: Date.now, keys: auth.keys, believed: auth.believed })
  registerAuth(app, { tools, state: auth.state, verify, addressHeader: null, origins: null, log: complain })
  place.url = await app.listen({ port: 0, host: '127.0.0.1' })
  const stop = async (): Promise<void> => {
    await app.close()
    await auth.close()
  }
  return { url: place.url, tools: auth.tools, stop }
}

const complain = (event: { readonly kind: string }): void => {
  if (event.kind === 'request-failed') console.error(event)
}

interface Turns {
  readonly actors: AsyncLocalStorage<number>
  readonly stage: Stage
}

/** The mailer has statements of its own, so it is made again; what was asked for is done before the answer, in turn. */
function staged(tools: AuthTools, turns: Turns): AuthTools {
  const database = stagedDatabase(tools.database, turns)
  const mailer = createMailer({ database, secret, server: null, from: null })
  const mailRequests: AuthTools['mailRequests'] = {
    ...tools.mailRequests,
    accept: (call, _database, { kind, input }) => mailRequestActs[kind](call, all, input),
  }
  const all = { ...tools, database, mailer, mailRequests }
  return all
}

function stagedDatabase(database: StatementsDatabase, { actors, stage }: Turns): StatementsDatabase {
  const turn = async (at: string): Promise<void> => {
    const actor = actors.getStore()
    if (actor !== undefined) await stage.pause(actor, at)
  }
  /** Concurrent requests run one after the other here, so that others may come between; if one fails, all fail. */
  const inTurn = (run: RunStatement): RunStatement => {
    let last: Promise<unknown> = Promise.resolve()
    return (statement, values) => {
      const next = last.then(() => turn(statement.name)).then(() => run(statement, values))
      last = next
      return next
    }
  }
  const transaction: StatementsDatabase['transaction'] = async (work) => {
    await turn('begin')
    return database.transaction(async (run) => {
      const value = await work(inTurn(run))
      await turn('commit')
      return value
    })
  }
  // Others may come between the statements of one exchange, too.
  return {
    ...database,
    run: (statement, values) => inTurn(database.run)(statement, values),
    transaction,
    together: transaction,
  }
}
