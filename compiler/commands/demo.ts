import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inTransactionBlock, withSession, type Query } from '../../runtime/db/connect/session.ts'
import { packageFolder } from './package.ts'

/** Loads the demo, in one transaction, into a database whose schema public is empty; does nothing in others. */
export async function loadDemo(ownerUrl: string, note: (line: string) => void): Promise<void> {
  await withSession({ url: ownerUrl }, async (query) => {
    if (!(await isEmpty(query))) return
    note('Loading the demo: a blog with users, posts and comments')
    const folder = join(packageFolder(), 'fixtures', 'demo')
    const scripts = await Promise.all(['schema.sql', 'seed.sql'].map((file) => readFile(join(folder, file), 'utf8')))
    await inTransactionBlock(query, async () => {
      for (const text of ['set local search_path to public', ...scripts]) await query(text)
    })
    await query('analyze')
  })
}

async function isEmpty(query: Query): Promise<boolean> {
  const { rows } = await query<{ empty: boolean }>(
    "select not exists (select from pg_class where relnamespace = to_regnamespace('public')) as empty",
  )
  return rows[0]?.empty === true
}
