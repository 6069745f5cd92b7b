import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../../runtime/db/pool/pool.ts'
import { createDatabase, type TestDatabase } from '../../../support/database.ts'
import { hasPgbouncer, startPgbouncer } from '../../../support/pgbouncer.ts'

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

  test.skipIf(!hasPgbouncer()).each([
    ['transaction', 'breaks-statements'],
    ['session', 'sound'],
  ] as const)('PgBouncer in %s mode', async (mode, found) => {
    const url = new URL(database.url)
    const pooler = await startPgbouncer(Number(url.port), mode)
    url.port = String(pooler.port)
    try {
      expect(await poolerOf(url.href)).toBe(found)
    } finally {
      await pooler.close()
    }
  })
})
