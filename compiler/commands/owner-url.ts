import type { DatabaseOptions } from '../../runtime/db/pool/pool.ts'
import { join } from 'node:path'
import { runningEmbeddedUrl } from '../../runtime/db/embedded/embedded-url.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { CommandFailure } from './command.ts'

/**
 * Connection URL of a role that may read everything, or of the embedded database while it runs. Throws CommandFailure
 * if there is none.
 */
export async function ownerUrl({ databaseOwnerUrl, databaseUrl, dataFolder }: Settings): Promise<string> {
  const url = databaseOwnerUrl ?? databaseUrl ?? (await runningEmbeddedUrl(join(dataFolder, 'postgres')))
  if (url !== null) return url
  throw new CommandFailure(
    'no database is configured: set DATABASE_OWNER_URL, or run catalograph start at the same time',
  )
}

/** The database of requests, as the login role, which sets a role as for a request. */
export async function loginDatabase(settings: Settings): Promise<Omit<DatabaseOptions, 'poolSize'>> {
  const { schemas, statementTimeoutMs } = settings
  const url = settings.databaseUrl ?? (await ownerUrl(settings))
  return { url, schemas, statementTimeout: statementTimeoutMs ?? undefined }
}
