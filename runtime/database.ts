import { openDatabase, type Database, type DatabaseOptions } from './db/pool/pool.ts'
import { answersSizeOf } from './http/limits.ts'
import { createByteBudget, type ByteBudget } from './lib/byte-budget.ts'
import type { Settings } from './settings/keys.ts'

/** The pool of requests, and the memory that their answers share. It exists before the server is loaded. */
export interface ServerDatabase extends Database {
  readonly answers: ByteBudget
}

/** Opens it; it connects on first use. */
export function openServerDatabase(settings: Settings & { readonly databaseUrl: string }): ServerDatabase {
  const answers = createByteBudget(answersSizeOf(settings.workers))
  return { ...openServerPool(settings, settings.databaseUrl, answers), answers }
}

/** The same for another server, with shared memory. */
export const openServerPool = (
  settings: Settings,
  url: string,
  answers: ByteBudget,
  replaying?: DatabaseOptions['replaying'],
): Database =>
  openDatabase({
    url,
    schemas: settings.schemas,
    poolSize: settings.poolSize,
    pooler: settings.pooler,
    statementTimeout: settings.statementTimeoutMs ?? undefined,
    lockTimeout: settings.lockTimeoutMs ?? undefined,
    answers,
    ...(replaying !== undefined && { replaying }),
  })
