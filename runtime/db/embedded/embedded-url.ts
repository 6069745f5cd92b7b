import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readCredentials } from './credentials.ts'

/**
 * Connection URL, as the superuser, of the embedded Postgres that a process of ours runs on a data folder; null if none
 * runs. The port is the fourth line of postmaster.pid (PostgreSQL manual 66.1).
 */
export async function runningEmbeddedUrl(given: string): Promise<string | null> {
  const folder = resolve(given)
  const text = await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')
  const port = text.split('\n')[3] ?? ''
  if (!/^\d{1,5}$/.test(port)) return null
  const { postgres } = await readCredentials(`${folder}.passwords.json`)
  return `postgres://postgres:${postgres}@127.0.0.1:${port}/postgres`
}
