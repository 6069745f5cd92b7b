import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '../../runtime/settings/keys.ts'

/** The secret that `start` created for a data folder, or null if there is none yet. */
export async function readLocalSecret(dataFolder: string): Promise<string | null> {
  try {
    return (await readFile(secretFile(dataFolder), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The secret that `start` created, for the embedded database; null if another one is configured. */
export const embeddedSecret = async (settings: Settings): Promise<string | null> =>
  settings.databaseUrl === null && settings.databaseOwnerUrl === null ? readLocalSecret(settings.dataFolder) : null

/** The secret of a data folder; created if missing, readable by its owner only. */
export async function ensureLocalSecret(dataFolder: string): Promise<string> {
  const known = await readLocalSecret(dataFolder)
  if (known !== null) return known
  const secret = randomBytes(32).toString('base64url')
  await mkdir(dataFolder, { recursive: true })
  await writeFile(secretFile(dataFolder), `${secret}\n`, { mode: 0o600, flag: 'wx' })
  return secret
}

function secretFile(dataFolder: string): string {
  return join(dataFolder, 'jwt-secret')
}
