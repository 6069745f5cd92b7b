import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../../runtime/db/pool/pool.ts'
import { createDatabase } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { titled } from '../../../support/programs.ts'
import { findPgcat, noPgcat, startPgcat } from '../../../support/pgcat.ts'
import { poolers } from '../../../support/poolers.ts'

const poolerOf = async (url: string) => {
  const db = openDatabase({ url, schemas: ['public'], poolSize: 4 })
  try {
    return await db.pooler()
  } finally {
    await db.close()
  }
}

describe('the search for a pooler before the database', () => {
  const database = forSuite(createDatabase)

  test('finds nothing before a plain server', async () => {
    expect(await poolerOf(database.url)).toBe('none')
  })

  const modesOf = poolers().flatMap(({ name, missing, keepsStatements, modes, start }) =>
    modes.map((mode) => {
      const transactions = keepsStatements ? 'statements' : 'no-statements'
      const found = { transaction: transactions, session: 'statements', statement: 'no-transactions' }[mode]
      return { mode, found, start, missing, title: titled(`${name} in ${mode} mode: ${found}`, missing) }
    }),
  )

  test.for(modesOf)('finds $title', async ({ mode, found, start, missing }, { skip }) => {
    skip(missing !== null)
    const url = new URL(database.url)
    const pooler = await start({ serverPort: Number(url.port), mode })
    url.port = String(pooler.port)
    onTestFinished(() => pooler.close())
    expect(await poolerOf(url.href)).toBe(found)
  })

  const pgcat = findPgcat()

  test.skipIf(pgcat === null)(
    titled('finds that pgcat with its cache of statements loses track of them', noPgcat()),
    async () => {
      const url = new URL(database.url)
      const pooler = await startPgcat({ program: pgcat?.path ?? '', serverPort: Number(url.port), statements: 100 })
      url.port = String(pooler.port)
      onTestFinished(() => pooler.close())
      expect(await poolerOf(url.href)).toBe('unreliable-statements')
    },
  )

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
    const first = poolers().find(({ missing }) => missing === null)
    if (first === undefined) return
    const url = new URL(database.url)
    const pooler = await first.start({ serverPort: Number(url.port) })
    url.port = String(pooler.port)
    onTestFinished(() => pooler.close())
    expect(await keptOn(url.href)).toEqual([])
  })
})
