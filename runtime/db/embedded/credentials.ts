import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

/** Passwords of an embedded server, by role. */
export interface EmbeddedCredentials {
  readonly postgres: string
  readonly authenticator: string
}

/** Without characters that a URL or an SQL literal would have to escape. */
const password = (): string => randomBytes(24).toString('base64url')

const isCredentials = (value: unknown): value is EmbeddedCredentials =>
  typeof value === 'object' &&
  value !== null &&
  'postgres' in value &&
  typeof value.postgres === 'string' &&
  'authenticator' in value &&
  typeof value.authenticator === 'string'

/** Creates and saves new passwords in a file that only its owner may read. */
export const createCredentials = async (file: string): Promise<EmbeddedCredentials> => {
  const made = { postgres: password(), authenticator: password() }
  await writeFile(file, `${JSON.stringify(made)}\n`, { mode: 0o600 })
  return made
}

/** The saved passwords. Rejects if the file is missing or has another format. */
export const readCredentials = async (file: string): Promise<EmbeddedCredentials> => {
  const text = await readFile(file, 'utf8').catch(() => '')
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : null
  if (isCredentials(value)) return value
  throw new Error(`The passwords of the embedded Postgres are not in ${file}; its data cannot be used without them.`)
}
