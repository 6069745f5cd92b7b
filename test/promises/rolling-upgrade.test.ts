import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFolder } from '../../runtime/lib/package.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { serveBuilt, type Served } from '../support/served.ts'
import { openWorktree, type Worktree } from '../support/worktree.ts'
import { postGraphql } from '../support/post-graphql.ts'

/**
 * Promise: processes of two neighbouring releases serve one database, and none of their requests fails while one takes the
 * other's place and back again, with changes of the schema between. npm run test:rolling -- --revision REVISION
 */
const revision = process.env['ROLLING_REVISION'] ?? null
const missing = revision === null ? 'npm run test:rolling -- --revision REVISION' : null

describe.skipIf(missing !== null)(titled('two releases', missing), () => {
  const db = forSuite(createDatabase, {
    superuser: 'event triggers are made here',
    sql: `create table note (id int primary key generated always as identity, body text);
      grant select, insert on note to anon`,
  })
  let before: Worktree
  beforeAll(async () => {
    before = await openWorktree(revision ?? 'HEAD')
  }, 300_000)
  afterAll(() => before?.remove())

  it('serve one database while one takes the place of the other', { timeout: 240_000 }, async () => {
    const serve = (folder: string): Promise<Served> => serveBuilt(db, {}, null, [], undefined, folder)
    const refused: string[] = []
    let [read, written, over] = [0, 0, false]
    let serving = await serve(before.folder)
    const document = (writes: boolean): string =>
      writes
        ? 'mutation { insertIntonoteCollection(objects: [{body: "x"}]) { affectedCount } }'
        : '{ noteCollection(first: 1) { edges { node { id } } } }'
    const client = async (writes: boolean): Promise<void> => {
      while (!over) {
        const { url, anon } = serving
        const response = await postGraphql({ url, anon }, { query: document(writes) })
        const answer = await response.text()
        if (response.status !== 200 || answer.includes('"errors"')) refused.push(`${response.status} ${answer}`)
        else if (writes) written += 1
        else read += 1
        await pause(10)
      }
    }
    const clients = [false, false, false, true].map(client)
    const folders = [packageFolder(), before.folder, packageFolder()]
    for (const [place, folder] of folders.entries()) {
      await pause(1_000)
      const last = serving
      const next = await serve(folder)
      await db.query(`alter table note add column while_both_${place} int`)
      await pause(1_000)
      serving = next
      await pause(500)
      await last.stop()
      await db.query(`alter table note add column alone_${place} int`)
    }
    await pause(1_000)
    over = true
    await Promise.all(clients)
    await serving.stop()
    expect(refused).toEqual([])
    expect(read).toBeGreaterThan(100)
    expect((await db.query('select count(*)::int as count from note')).rows).toEqual([{ count: written }])
  })
})
