import { authOwner } from '../../runtime/auth/schema/auth-schema.ts'
import { foreignObjects, foreignSentence, givingSql, MigrationRefusal } from '../../runtime/auth/schema/owners.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { DatabaseFailure } from '../../runtime/db/failures/failures.ts'
import { openStatements, type StatementsDatabase } from '../../runtime/db/pool/statements.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { CommandFailure } from './command.ts'
import { ownerUrl } from './needed-settings.ts'

export interface AuthUrls {
  /** Of the owner of auth's tables. */
  readonly auth: string
  /** Of the preparing role. */
  readonly owner: string
}

/** The database of the settings, or the embedded one while it runs. Throws CommandFailure if there is none. */
export async function authUrls(settings: Settings): Promise<AuthUrls> {
  const { databaseUrl, databaseOwnerUrl, databaseAuthUrl } = settings
  const auth = databaseAuthUrl ?? databaseOwnerUrl ?? databaseUrl ?? (await ownerUrl(settings))
  return { auth, owner: databaseOwnerUrl ?? auth }
}

/** Schema or table missing. */
const notPrepared: ReadonlySet<string> = new Set(['3F000', '42P01'])

/** Lends the database to `work` and closes it. Rejects with CommandFailure if auth was never enabled. */
export async function withAuthDatabase<T>(url: string, work: (database: StatementsDatabase) => Promise<T>): Promise<T> {
  const database = openStatements({ url, schemas: ['auth'], role: authOwner, poolSize: 1, statementTimeout: 30_000 })
  try {
    return await work(database)
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    if (notPrepared.has(error.sqlstate ?? '')) {
      throw new CommandFailure('auth is not prepared in this database; run catalograph auth enable --site-url URL')
    }
    if (error instanceof MigrationRefusal) throw new CommandFailure(error.message)
    if (error.sqlstate === '42501') throw new CommandFailure(await foreignRefusal(url))
    throw error
  } finally {
    await database.close()
  }
}

async function foreignRefusal(url: string): Promise<string> {
  const [first, ...others] = await withSession({ url }, foreignObjects)
  if (first === undefined) return 'this role may not do that: set DATABASE_AUTH_URL or DATABASE_OWNER_URL'
  const ways = `run catalograph auth enable as a role that may, which DATABASE_OWNER_URL names, or as ${first.owner}: ${givingSql(first)}`
  const more = others.length === 0 ? '' : ` (and ${others.length} others, which catalograph doctor names)`
  return `${foreignSentence(first)}${more}: ${ways}`
}
