import { databaseOf, loginOf } from '../../../runtime/db/connect/server.ts'
import type { Log } from '../../../runtime/settings/log/events.ts'
import { prepareDatabase, wayOut, type Preparation } from '../prepare/prepare.ts'

export interface PrepareOnceOptions {
  readonly ownerUrl: string
  readonly loginUrl: string
  readonly log: Log
}

export type PreparedDatabase = Extract<Preparation, { readonly ready: true }>

/** @param again the database was replaced, or lost its preparation */
export type Prepare = (again?: boolean) => Promise<PreparedDatabase>

/**
 * Prepares a database once: after a failure the next call tries again, so that a database which starts late, or
 * whose owner acts in the meantime, needs no restart.
 */
export function createPrepareOnce({ ownerUrl, loginUrl, log }: PrepareOnceOptions): Prepare {
  let prepared: PreparedDatabase | null = null
  let asked = ''
  return async (again = false) => {
    if (prepared !== null && !again) return prepared
    prepared = null
    const preparation = await prepareDatabase({ url: ownerUrl, login: loginOf(loginUrl) })
    const { statements } = preparation
    // The same need is reported once.
    if (statements.length > 0 && asked !== statements.join())
      log({ kind: 'owner-needed', statements: statements.length })
    asked = statements.join()
    prepared = demandReady(preparation, ownerUrl)
    log({ kind: 'database-prepared', followed: prepared.followed })
    return prepared
  }
}

function demandReady(preparation: Preparation, ownerUrl: string): PreparedDatabase {
  if (preparation.ready) return preparation
  const [name, owner] = [databaseOf(ownerUrl), loginOf(ownerUrl)]
  throw new Error(`the database ${name} is not prepared, and ${owner} may not prepare it: ${wayOut(preparation)}`)
}
