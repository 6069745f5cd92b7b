import type { Caller, RequestContext, RunExchange } from '../../contract/execution.ts'
import type { Outline } from '../statements/statements.ts'
import type { GraphqlRequest } from '../protocol/types.ts'
import type { Running } from './cell.ts'
import type { ExchangeContext } from './exchange.ts'

/** One attempt to answer a request, on one engine. */
export interface Turn<L extends Running> {
  readonly request: GraphqlRequest
  readonly context: RequestContext | undefined
  readonly loaded: L
  readonly asker: ExchangeContext
  /** Runs an exchange in the name of the request. */
  readonly run: RunExchange
  /** The same for the statements of a request that only reads, which a replica may answer. */
  readonly read: RunExchange
  /** What the answer consists of, once that is known: it names the field of a statement that failed. */
  outline: Outline | null
}

/** Where requests run. */
export interface ServiceDatabase {
  readonly run: RunExchange
  /** For statements that only read; left out: `run`. */
  readonly read?: RunExchange
}

/** @param isFirst a later attempt compares everything, so it has no privileges to rely on */
export function beginTurn<L extends Running>(
  { run, read = run }: ServiceDatabase,
  loaded: L,
  request: GraphqlRequest,
  caller: Caller,
  context: RequestContext | undefined,
  isFirst: boolean,
): Turn<L> {
  const { engine } = loaded
  const { version, manifest } = engine
  const privileges = isFirst ? engine.privileges(caller.role) : undefined
  const claimsTogether = version !== null && manifest.readsClaims !== true
  const asker: ExchangeContext = {
    caller,
    claimsTogether,
    distributed: manifest.distributed !== undefined,
    leaves: manifest.leaves,
    version,
    privileges,
    label: context?.label,
  }
  const inName = (whose: RunExchange): RunExchange =>
    context === undefined ? whose : (exchange) => whose(exchange, context)
  const send = inName(run)
  // No answer of a stream is older than the one before: no replica makes it.
  const reads = read === run || request.live === true ? send : inName(read)
  return { request, context, loaded, asker, run: send, read: reads, outline: null }
}
