import type { Log } from '../../runtime/log/events.ts'
import { prepareDatabase } from '../prepare/prepare.ts'
import type { Preparation } from '../prepare/prepare.ts'

export interface PrepareOnceOptions {
  /** Connection URL of whoever may prepare. */
  readonly ownerUrl: string
  /** Connection URL that requests log in with. */
  readonly loginUrl: string
  readonly log: Log
}

type Prepared = Extract<Preparation, { readonly ready: true }>

/**
 * Makes the preparation of a database that is done at most once: what failed is tried again at the next call, so that a
 * database which comes up late, or whose owner acts meanwhile, needs no restart.
 */
export function createPrepareOnce({ ownerUrl, loginUrl, log }: PrepareOnceOptions): () => Promise<Prepared> {
  let prepared: Prepared | null = null
  return async () => {
    prepared ??= accept(await prepareDatabase({ url: ownerUrl, login: loginOf(loginUrl) }), log)
    return prepared
  }
}

function accept(preparation: Preparation, log: Log): Prepared {
  if (preparation.statements.length > 0) log({ kind: 'owner-needed', statements: preparation.statements })
  if (!preparation.ready) {
    throw new Error('the database is not prepared and DATABASE_OWNER_URL, or DATABASE_URL, may not prepare it')
  }
  log({ kind: 'database-prepared', followed: preparation.followed })
  return preparation
}

function loginOf(url: string): string {
  return decodeURIComponent(new URL(url).username)
}
