import type { TestDatabase } from './database.ts'

/** How many advisory locks are held in a database: other databases of its server have those of other tests. */
export const advisoryLocksOf = async (db: Pick<TestDatabase, 'query'>): Promise<number | null> => {
  const held = await db.query(`select from pg_locks where locktype = 'advisory'
    and database = (select oid from pg_database where datname = current_database())`)
  return held.rowCount
}
