import { asRole, createDatabase, dropTemplates, type Major, type Superuser } from './database.ts'

/**
 * A database of an owner of its own, whose server, which is its own, has none of the roles of the API: what a managed service gives
 * before anything is prepared.
 */
export interface OwnedDatabase {
  readonly superuser: Superuser
  readonly name: string
  readonly ownerUrl: string
  readonly loginUrl: string
  readonly drop: () => Promise<void>
}

const apiRoles = 'anon, authenticated, service_role, authenticator, supabase_auth_admin'

export const createOwnedDatabase = async (major: Major): Promise<OwnedDatabase> => {
  const db = await createDatabase({ isolated: true, major })
  const name = new URL(db.ownerUrl).pathname.slice(1)
  const superuser = db.superuser('makes the owner, and does what an owner may not')
  await dropTemplates(db)
  await superuser.query(
    `drop role ${apiRoles}; create role boss login createrole createdb; alter database ${name} owner to boss`,
  )
  // Before PostgreSQL 15 the schema belongs to the superuser that made the server (manual, 5.9.2 of that version).
  if (major < 15) await superuser.query('alter schema public owner to boss')
  return { superuser, name, ownerUrl: asRole(db.ownerUrl, 'boss'), loginUrl: db.url, drop: db.drop }
}
