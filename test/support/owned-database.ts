import { createDatabase, dropTemplates, type Major, type TestDatabase } from './database.ts'

/**
 * A database as managed services give one: its owner may create roles and databases and is no superuser, and its server, which it has
 * to itself, has none of the roles of the API.
 */
export interface OwnedDatabase {
  /** `query` runs as the superuser: what an owner cannot see or do. */
  readonly db: TestDatabase
  readonly name: string
  readonly ownerUrl: string
  readonly loginUrl: string
}

const apiRoles = 'anon, authenticated, service_role, authenticator, supabase_auth_admin'

const asRole = ({ adminUrl }: TestDatabase, role: string): string => adminUrl.replace('postgres@', `${role}@`)

export const createOwnedDatabase = async (major: Major): Promise<OwnedDatabase> => {
  const db = await createDatabase({ isolated: true, major })
  const name = new URL(db.adminUrl).pathname.slice(1)
  await dropTemplates(db)
  await db.query(
    `drop role ${apiRoles}; create role boss login createrole createdb; alter database ${name} owner to boss`,
  )
  // Before PostgreSQL 15 the schema belongs to the superuser that made the server (manual, 5.9.2 of that version).
  if (major < 15) await db.query('alter schema public owner to boss')
  return { db, name, ownerUrl: asRole(db, 'boss'), loginUrl: asRole(db, 'authenticator') }
}
