import type { Caller, RequestContext, RunExchange } from '../../contract/execution.ts'
import type { Outline } from '../statements/statements.ts'
import type { GraphqlRequest } from '../protocol/types.ts'
import type { Loaded } from './cell.ts'
import type { ExchangeContext } from './exchange.ts'

/** One attempt to answer a request, on one engine. */
export interface Turn {
  readonly request: GraphqlRequest
  readonly context: RequestContext | undefined
  readonly loaded: Loaded
  readonly asker: ExchangeContext
  /** Runs an exchange in the name of the request. */
  readonly run: RunExchange
  /** What the answer consists of, once that is known: it names the field of a statement that failed. */
  outline: Outline | null
}

/** @param isFirst a later attempt compares everything, so it has no privileges to rely on */
export function beginTurn(
  run: RunExchange,
  loaded: Loaded,
  request: GraphqlRequest,
  caller: Caller,
  context: RequestContext | undefined,
  isFirst: boolean,
): Turn {
  const { engine } = loaded
  const { version, manifest } = engine
  const privileges = isFirst ? engine.privileges(caller.role) : undefined
  const claimsTogether = version !== null && manifest.readsClaims !== true
  const asker: ExchangeContext = {
    caller,
    claimsTogether,
    leaves: manifest.leaves,
    version,
    privileges,
    label: context?.label,
  }
  const send: RunExchange = context === undefined ? run : (exchange) => run(exchange, context)
  return { request, context, loaded, asker, run: send, outline: null }
}
