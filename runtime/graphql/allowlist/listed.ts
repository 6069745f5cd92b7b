import type { BoundStatement, Exchange, Row, RunExchange } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures.ts'
import { createLru } from '../../lib/lru.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { notListed, type Admission } from './admission.ts'
import { guard, lookUp } from './statements.ts'

/**
 * Texts of listed documents by their hashes. A text is kept only under the hash that it has, so nothing here ever
 * becomes wrong; whether it is still listed, and for the caller, is asked with every request.
 */
export interface Texts {
  readonly get: (hash: string) => string | undefined
  /** Keeps a text; answers its hash. */
  readonly add: (text: string) => string
}

/** In characters; a list that is longer works as well, in two round trips where a text was forgotten. */
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
  }
}

/** Who asks, and the version that he asks at. */
export type Asker = Pick<Exchange, 'caller' | 'claimsTogether' | 'version' | 'standing'>

/** Member by member: V8 takes µs to spread an object where it is given further members. */
export const exchangeOf = (
  { caller, claimsTogether, version, standing }: Asker,
  readOnly: boolean,
  statements: readonly BoundStatement[],
): Exchange => ({ caller, claimsTogether, version, standing, readOnly, statements })

/**
 * The text of a listed document, which is asked for when it is not known yet.
 * @throws Refusal when it is not listed for the caller
 */
export function textOf(run: RunExchange, texts: Texts, admission: Admission, asker: Asker): string | Promise<string> {
  return texts.get(admission.hash) ?? askForText(run, texts, admission, asker)
}

async function askForText(run: RunExchange, texts: Texts, admission: Admission, asker: Asker): Promise<string> {
  const { table, hash } = admission
  const question = lookUp(asker.caller.role, table, hash)
  const rows = await asking(run, admission, exchangeOf(asker, true, [question]))
  const text = rows[0]?.[0]?.toString() ?? null
  // A row whose hash is another text's lists neither of them.
  if (text === null || sha256Hex(text) !== hash) throw notListed(admission)
  texts.add(text)
  return text
}

/**
 * Runs statements behind the one that asks for their document: one round trip, and where the document is not listed any
 * more, or not for the caller, nothing ran.
 */
export const behindList =
  (run: RunExchange, admission: Admission, text: string): RunExchange =>
  (given) => {
    const check = guard(given.caller.role, admission.table, admission.hash, text)
    const exchange = exchangeOf(given, given.readOnly, [check, ...given.statements])
    return asking(run, admission, exchange).then((rows) => rows.slice(1))
  }

/** Runs an exchange whose first statement is about the list. A table, column or right that it lacks lists nothing. */
const asking = (run: RunExchange, admission: Admission, exchange: Exchange): Promise<readonly Row[]> =>
  run(exchange).catch((error: unknown) => failedAsking(run, admission, exchange, error))

async function failedAsking(
  run: RunExchange,
  admission: Admission,
  exchange: Exchange,
  error: unknown,
): Promise<never> {
  if (!(error instanceof DatabaseFailure) || error.statement === null) throw error
  // The request's own statements are counted without it.
  if (error.statement > 0) throw atStatement(error, error.statement - 1)
  if (error.kind !== 'refused') throw atStatement(error, null)
  // Unless the schema changed, in which case this fails and the request begins again.
  await run(exchangeOf(exchange, exchange.readOnly, []))
  throw notListed(admission)
}
