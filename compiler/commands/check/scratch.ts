import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loginOf } from '../../../runtime/db/connect/server.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { startEmbedded } from '../../../runtime/db/embedded/embedded.ts'
import { reasonOf } from '../../../runtime/db/failures/failures.ts'
import { ident } from '../../../runtime/sql/ident.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import { CommandFailure } from '../command.ts'

/** URLs of one database: as its owner, and as the login role of requests. */
export interface ScratchUrls {
  readonly owner: string
  readonly login: string
}

interface ScratchServer extends ScratchUrls {
  readonly stop: () => Promise<void>
}

/** The server of DATABASE_OWNER_URL, or a Postgres of its own, which is removed afterwards. */
async function serverOfSettings(
  { databaseOwnerUrl, databaseUrl }: Settings,
  onProgress: (step: string) => void,
): Promise<ScratchServer> {
  const given = databaseOwnerUrl ?? databaseUrl
  if (given !== null) return { owner: given, login: databaseUrl ?? given, stop: async () => undefined }
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-check-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    // The account of the server enters it.
    await chmod(folder, 0o755)
    const { adminUrl, serveUrl, stop } = await startEmbedded({ folder: join(folder, 'postgres'), onProgress })
    const end = async (): Promise<void> => {
      await stop()
      await remove()
    }
    // Some tools, such as dbmate, demand encryption unless the URL says otherwise.
    return { owner: `${adminUrl}?sslmode=disable`, login: `${serveUrl}?sslmode=disable`, stop: end }
  } catch (error) {
    await remove()
    throw error
  }
}

const inDatabase = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href

/** Makes an empty database for `work`, and drops it. Rejects with CommandFailure if none can be made. */
export async function withScratch<T>(
  settings: Settings,
  onProgress: (step: string) => void,
  work: (urls: ScratchUrls) => Promise<T>,
): Promise<T> {
  const server = await serverOfSettings(settings, onProgress)
  const name = `catalograph_check_${randomBytes(5).toString('hex')}`
  const onServer = (sql: string) => withSession({ url: server.owner }, (query) => query(sql))
  try {
    await onServer(`create database ${name}`).catch((error: unknown) => {
      const login = ident(loginOf(server.owner))
      throw new CommandFailure(
        `no database can be made to check with: ${reasonOf(error)}: alter role ${login} createdb;`,
      )
    })
    try {
      return await work({ owner: inDatabase(server.owner, name), login: inDatabase(server.login, name) })
    } finally {
      await onServer(`drop database if exists ${name} with (force)`)
    }
  } finally {
    await server.stop()
  }
}
