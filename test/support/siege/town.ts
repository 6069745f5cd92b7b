import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { authOwner } from '../../../runtime/auth/schema/auth-schema.ts'
import type { AuthSettingName } from '../../../runtime/auth/settings/setting-keys.ts'
import { setSetting } from '../../../runtime/auth/settings/store.ts'
import { openStatements } from '../../../runtime/db/pool/statements.ts'
import { projectKeys } from '../../../runtime/identity/project-keys.ts'
import { signToken } from '../../../runtime/identity/jwt.ts'
import type { ClusterSource, ThrowAwayCluster } from '../cluster.ts'
import { openChosen } from '../topologies.ts'
import { schemaSql } from './schema.ts'
import { startBesieged, type Besieged } from './server.ts'

/** A database on a Postgres of its own, and the built server on it, with auth enabled. */
export interface Town {
  readonly cluster: ThrowAwayCluster
  /** Of the database, as the superuser. */
  readonly ownerUrl: string
  /** Of each server that answers: the first takes writes. */
  readonly adminUrls: readonly string[]
  readonly server: Besieged
  /** A pooler before it does not notice who is gone. */
  readonly missesEnds: boolean
  readonly secret: string
  readonly keys: { readonly anon: string; readonly serviceRole: string }
  readonly tokenOf: (claims: Readonly<Record<string, unknown>>) => string
  /** One statement as the superuser, on a connection that is made again when the last one broke. */
  readonly admin: (sql: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>
  /** The same on each server that answers: the rows of all. */
  readonly everywhere: (sql: string) => Promise<readonly Record<string, unknown>[]>
  /** Stores a setting of auth, as the owner's tools do. */
  readonly store: (name: AuthSettingName, text: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface TownOptions {
  readonly source: ClusterSource
  readonly settings: Readonly<Record<string, string>>
}

const site = [
  ['auth_enabled', 'on'],
  ['site_url', 'https://app.example.com'],
  ['autoconfirm', 'on'],
  ['jwt_exp', '604800'],
  ['ban_threshold', '30'],
] as const

/** One connection, which breaks with the database and is then made again. */
export function openAdmin(url: string): { readonly query: Town['admin']; readonly end: () => Promise<void> } {
  let connection: Promise<pg.Client> | null = null
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(url)
    const forget = (): void => void (connection = null)
    client.on('error', forget)
    client.on('end', forget)
    await client.connect()
    return client
  }
  return {
    query: async (sql, values = []) => {
      connection ??= connect()
      const client = await connection.catch((error: unknown) => {
        connection = null
        throw error
      })
      return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
    },
    end: async () => {
      await (await connection?.catch(() => null))?.end()
    },
  }
}

export async function openTown({ source, settings }: TownOptions): Promise<Town> {
  // The server decides at its start which facts of running statements it tracks. A crash loses no acknowledged write.
  const clusterSettings = { track_activity_query_size: '65536', synchronous_commit: 'on' }
  const standing = await openChosen({ source, sql: schemaSql, settings: clusterSettings })
  const closing: (() => Promise<unknown>)[] = [standing.drop]
  const close = async (): Promise<void> => {
    for (let next = closing.pop(); next !== undefined; next = closing.pop()) await next()
  }
  try {
    const { cluster, url, ownerUrl, standbys, missesEnds } = standing
    if (cluster === null) throw new Error('The siege stops the server that takes writes, and there are several.')
    const { url: superuserUrl } = standing.superuser('attacks sessions of other roles, and watches them')
    const admin = openAdmin(superuserUrl)
    const readers = standbys.map(openAdmin)
    closing.push(admin.end, ...readers.map(({ end }) => end))
    const auth = { url: ownerUrl, schemas: ['auth'], role: authOwner, poolSize: 1, statementTimeout: 0 }
    const owner = openStatements(auth)
    closing.push(owner.close)
    const store: Town['store'] = async (name, text) => {
      const parsed = await setSetting(owner.run, name, text)
      if (parsed.kind === 'problem') throw new Error(`${name} ${parsed.problem}`)
    }
    for (const [name, text] of site) await store(name, text)
    const secret = randomBytes(32).toString('hex')
    // Only a superuser makes event triggers, which an attack drops.
    const urls = { DATABASE_URL: url, DATABASE_OWNER_URL: superuserUrl, JWT_SECRET: secret }
    const server = await startBesieged({ ...urls, ...standing.environment, ...settings })
    closing.push(server.end)
    return {
      cluster,
      ownerUrl,
      adminUrls: [superuserUrl, ...standbys],
      server,
      missesEnds,
      secret,
      keys: projectKeys(secret),
      tokenOf: (claims) => signToken({ exp: Math.floor(Date.now() / 1_000) + 86_400, ...claims }, secret),
      admin: admin.query,
      everywhere: async (sql) => (await Promise.all([admin, ...readers].map(({ query }) => query(sql)))).flat(),
      store,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
