import type { Exchange, ResultRow, RunExchange } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures/failures.ts'
import { createLru, type LruStats } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { type Running, exchangeOf, type ExchangeContext, type RequestState } from '../run/request-state.ts'
import { notListed, type Admission } from './admission.ts'
import { guard, listing, lookUp, notListedReason } from './list-statements.ts'

/**
 * Texts of listed documents by their hashes. A text is kept only under its own hash, so an entry never becomes wrong;
 * each request checks whether it is still listed for the caller.
 */
export interface Texts {
  readonly get: (hash: string) => string | undefined
  /** Keeps a text; returns its hash. */
  readonly add: (text: string) => string
  readonly stats: () => LruStats
}

/** In characters; a longer list works as well, with two round trips for a forgotten text. */
const allTexts = 16_000_000

export function createTexts(): Texts {
  const texts = createLru<string, string>(allTexts, (text) => text.length)
  return {
    get: texts.get,
    add: (text) => {
      const hash = sha256Hex(text)
      texts.set(hash, text)
      return hash
    },
    stats: texts.stats,
  }
}

/**
 * The text of a listed document, read from the list if it is not known yet.
 * @throws Refusal if it is not listed for the caller
 */
export function listedText(
  run: RunExchange,
  texts: Texts,
  admission: Admission,
  exchangeContext: ExchangeContext,
): string | Promise<string> {
  return texts.get(admission.hash) ?? askForText(run, texts, admission, exchangeContext)
}

async function askForText(
  run: RunExchange,
  texts: Texts,
  admission: Admission,
  exchangeContext: ExchangeContext,
): Promise<string> {
  const { table, hash } = admission
  const question = lookUp(exchangeContext.caller.role, table, hash)
  const rows = await asking(run, admission, exchangeOf(exchangeContext, true, [question]))
  const text = rows[0]?.[0]?.toString() ?? null
  // A row with the hash of another text lists neither.
  if (text === null || sha256Hex(text) !== hash) throw notListed(admission)
  texts.add(text)
  return text
}

/**
 * Runs statements only if their document is listed for the caller: one round trip, and nothing runs if it is no longer
 * listed.
 */
/** From now on the request runs only while the document is listed. */
export function runWhileListed(
  state: Pick<RequestState<Running>, 'run' | 'read'>,
  admission: Admission,
  text: string,
): void {
  const { run, read } = state
  state.run = behindList(run, admission, text)
  state.read = read === run ? state.run : behindList(read, admission, text)
}

const behindList =
  (run: RunExchange, admission: Admission, text: string): RunExchange =>
  (given) => {
    const { table, hash } = admission
    if (given.version === null) {
      const guarded = [guard(given.caller.role, table, hash, text), ...given.statements]
      return asking(run, admission, exchangeOf(given, given.readOnly, guarded)).then((rows) => rows.slice(1))
    }
    const exchange = exchangeOf(given, given.readOnly, given.statements, listing(table, hash, text))
    return run(exchange).catch((error: unknown) => failedUnder(run, admission, exchange, error))
  }

/** Raised by catalograph.refuse. */
const refusedByUs = 'CG002'

/** SQLSTATE classes of statements that cannot be prepared, or whose parameters cannot be read. */
const unpreparable: ReadonlySet<string> = new Set(['0A', '22', '3F', '42'])

/**
 * A list whose table, column or privilege is missing is empty. The cause may be the request's own first statement: then
 * the list, queried alone, contains the document.
 */
async function failedUnder(run: RunExchange, admission: Admission, exchange: Exchange, error: unknown): Promise<never> {
  if (!(error instanceof DatabaseFailure) || error.kind !== 'refused') throw error
  if (error.sqlstate === refusedByUs && error.message === notListedReason) throw notListed(admission)
  const first = exchange.statements.findIndex(({ carriesCheck }) => carriesCheck)
  const isPrepared = (error.statement ?? 0) > Math.max(0, first) || !unpreparable.has(error.sqlstate?.slice(0, 2) ?? '')
  if (isPrepared || (exchange.statements.length > 0 && (await conditionHolds(run, exchange)))) throw error
  throw notListed(admission)
}

async function conditionHolds(run: RunExchange, exchange: Exchange): Promise<boolean> {
  return run(exchangeOf(exchange, true, [], exchange.condition)).then(
    () => true,
    (failure: unknown) => {
      if (failure instanceof DatabaseFailure && failure.kind === 'refused') return false
      throw failure
    },
  )
}

/** Runs an exchange whose first statement checks the list; a missing table, column or privilege means an empty list. */
const asking = (run: RunExchange, admission: Admission, exchange: Exchange): Promise<readonly ResultRow[]> =>
  run(exchange).catch((error: unknown) => failedAsking(run, admission, exchange, error))

async function failedAsking(
  run: RunExchange,
  admission: Admission,
  exchange: Exchange,
  error: unknown,
): Promise<never> {
  if (!(error instanceof DatabaseFailure) || error.statement === null) throw error
  // The index of the failed statement refers to the request's own statements.
  if (error.statement > 0) throw atStatement(error, error.statement - 1)
  if (error.kind !== 'refused') throw atStatement(error, null)
  // If the schema changed, this fails and the request begins again.
  await run(exchangeOf(exchange, exchange.readOnly, []))
  throw notListed(admission)
}
