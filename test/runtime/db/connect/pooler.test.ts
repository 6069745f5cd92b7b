import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../../runtime/db/pool/pool.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { pgbouncers, startPgbouncer } from '../../../support/pgbouncer.ts'

const poolerOf = async (url: string) => {
  const db = openDatabase({ url, schemas: ['public'], poolSize: 4 })
  try {
    return await db.pooler()
  } finally {
    await db.close()
  }
}

describe('what stands before the database', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase()
  })
  afterAll(() => database.drop())

  test('nothing', async () => {
    expect(await poolerOf(database.url)).toBe('none')
  })

  test.each(
    pgbouncers().flatMap(({ path, version, keepsStatements }) => [
      ['transaction', keepsStatements ? 'statements' : 'no-statements', version, path] as const,
      ['session', 'statements', version, path] as const,
      ['statement', 'no-transactions', version, path] as const,
    ]),
  )('PgBouncer in %s mode: %s (%s)', async (mode, found, _version, program) => {
    const url = new URL(database.url)
    const pooler = await startPgbouncer({
      program,
      serverPort: Number(url.port),
      mode,
      lines: ['max_prepared_statements = 100'].filter(() => found === 'statements' && mode === 'transaction'),
    })
    url.port = String(pooler.port)
    try {
      expect(await poolerOf(url.href)).toBe(found)
    } finally {
      await pooler.close()
    }
  })

  /** Names under which the connection that asks keeps statements. */
  const keptOn = async (url: string): Promise<unknown> => {
    const db = openDatabase({ url, schemas: ['public'], poolSize: 1 })
    try {
      return await db.session(async (query) => {
        await query('select 1', [], 'ours')
        return (await query('select name from pg_prepared_statements')).rows
      })
    } finally {
      await db.close()
    }
  }

  test('a connection keeps our own named statements where it has a backend of its own, and only there', async () => {
    expect(await keptOn(database.url)).toEqual([{ name: 'ours' }])
    const [pgbouncer] = pgbouncers()
    if (pgbouncer === undefined) return
    const url = new URL(database.url)
    const pooler = await startPgbouncer({ program: pgbouncer.path, serverPort: Number(url.port) })
    url.port = String(pooler.port)
    try {
      expect(await keptOn(url.href)).toEqual([])
    } finally {
      await pooler.close()
    }
  })
})
