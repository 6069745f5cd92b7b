import { randomBytes } from 'node:crypto'
import { addProjectKey, createProjectKeysReader, revokeProjectKey } from '../../../runtime/db/connect/project-keys.ts'
import { withSession, type Query } from '../../../runtime/db/connect/session.ts'
import { DatabaseFailure, reasonOf } from '../../../runtime/db/failures/failures.ts'
import { createTokenVerifier } from '../../../runtime/identity/jwt.ts'
import { addedKey, goodKey, keyRoles, keysOf, type ListedKey } from '../../../runtime/identity/project-keys.ts'
import type { Settings } from '../../../runtime/settings/keys.ts'
import { previousSecretOf } from '../../../runtime/settings/rotation.ts'
import { CommandFailure, misuse, type Terminal } from '../command.ts'
import { embeddedSecret } from '../start.ts'
import { ownerUrl } from '../needed-settings.ts'

interface KeysWork {
  readonly settings: Settings
  readonly terminal: Terminal
  readonly given: string
}

export interface KeysSubcommand {
  readonly usage: string
  readonly summary: string
  readonly takes: 0 | 1
  readonly run: (work: KeysWork) => Promise<void>
}

const seen = 'Every running server and handler obeys within a second.'

export const printKeys: KeysSubcommand = {
  usage: '',
  summary: 'Print the valid keys.',
  takes: 0,
  run: async ({ settings, terminal }) => {
    const { secret, whose } = await secretOf(settings)
    const keys = keysOf(secret, await listedIfKnown(settings, terminal))
    for (const { role, token, id, revokedAt } of keys) if (revokedAt === null) terminal.print(line(role, token, id))
    terminal.note(`catalograph: these are the keys of ${whose}`)
  },
}

export const list: KeysSubcommand = {
  usage: 'list',
  summary: 'List the ids of all keys, with the dates when they were added and revoked.',
  takes: 0,
  run: async ({ settings, terminal }) => {
    const listed = await withDatabase(settings, readListed)
    for (const { id, role, addedAt, revokedAt, origin } of await allKeys(settings, listed)) {
      const end = revokedAt === null ? '' : `  revoked ${revokedAt}`
      terminal.print(`${id}  ${role.padEnd(12)}  ${addedAt === null ? origin : `added ${addedAt}`}${end}`)
    }
  },
}

export const add: KeysSubcommand = {
  usage: `add ${keyRoles.join('|')}`,
  summary: 'Add a key of that role, which can be revoked separately, and print it.',
  takes: 1,
  run: async ({ settings, terminal, given }) => {
    const role = keyRoles.find((one) => one === given)
    if (role === undefined) throw misuse(`usage: catalograph keys ${add.usage}`)
    const { secret } = await secretOf(settings)
    const id = randomBytes(8).toString('hex')
    await withDatabase(settings, (query) => addProjectKey(query, { id, role }))
    terminal.print(line(role, addedKey(role, id, secret), id))
  },
}

export const revoke: KeysSubcommand = {
  usage: 'revoke ID|KEY',
  summary: 'Revoke a key permanently, by its id or its text; all other keys stay valid.',
  takes: 1,
  run: async ({ settings, terminal, given }) => {
    const { secret } = await secretOf(settings)
    const { key, listed } = await withDatabase(settings, async (query) => {
      const found = await givenKey(given, settings, await readListed(query))
      if (found === null) throw new CommandFailure('unknown key; catalograph keys list shows all keys')
      await revokeProjectKey(query, found)
      return { key: found, listed: await readListed(query) }
    })
    terminal.print(`The ${key.role} key ${key.id} is revoked. ${seen}`)
    const left = keysOf(secret, listed)
    const role = keyRoles.find((one) => one === key.role)
    if (role !== undefined && goodKey(left, role) === undefined)
      terminal.note(`No ${role} key is left: catalograph keys add ${role}`)
  },
}

/** The form for programs. */
const line = (role: string, token: string, id: string): string => `${role.padEnd(12)}  ${token}  ${id}`

interface OriginatedKey extends ListedKey {
  readonly origin: string
}

/** The keys of the secret and of its predecessor, and further revoked ones. */
async function allKeys(settings: Settings, listed: readonly ListedKey[]): Promise<readonly OriginatedKey[]> {
  const { secret } = await secretOf(settings)
  const previous = previousSecretOf(settings)
  const present = keysOf(secret, listed).map((key) => ({ ...key, origin: 'of the secret' }))
  const earlier = previous === null ? [] : keysOf(previous.secret, listed).filter(({ addedAt }) => addedAt === null)
  const known = [...present, ...earlier.map((key) => ({ ...key, origin: 'of the previous secret' }))]
  const others = listed.filter(({ id }) => known.every((key) => key.id !== id))
  return [...known, ...others.map((key) => ({ ...key, origin: 'signed elsewhere' }))]
}

async function givenKey(
  given: string,
  settings: Settings,
  listed: readonly ListedKey[],
): Promise<Pick<ListedKey, 'id' | 'role'> | null> {
  if (!given.includes('.')) return (await allKeys(settings, listed)).find(({ id }) => id === given) ?? null
  const { secret } = await secretOf(settings)
  let id: string | null = null
  const isRevoked = (asked: string): boolean => {
    id = asked
    return false
  }
  const verify = createTokenVerifier({ secret, previous: previousSecretOf(settings), now: Date.now, isRevoked })
  const verdict = await verify(given)
  return verdict.kind === 'verified' && id !== null ? { id, role: verdict.caller.role } : null
}

const readListed = (query: Query): Promise<readonly ListedKey[]> => createProjectKeysReader(query)()

/** Keys can be printed without a database, which may be unreachable from here. */
async function listedIfKnown(settings: Settings, terminal: Terminal): Promise<readonly ListedKey[]> {
  const url = await ownerUrl(settings).catch(() => null)
  if (url === null) return []
  return withSession({ url }, readListed).catch((error: unknown) => {
    terminal.note(`catalograph: which keys were added or revoked is not known: ${reasonOf(error)}`)
    return []
  })
}

const schemaMissing = '3F000'
const insufficientPrivilege = '42501'

/** Throws CommandFailure if the database is not prepared, or the role lacks privileges. */
async function withDatabase<T>(settings: Settings, work: (query: Query) => Promise<T>): Promise<T> {
  const url = await ownerUrl(settings)
  try {
    return await withSession({ url }, work)
  } catch (error) {
    const state = error instanceof DatabaseFailure ? error.sqlstate : undefined
    if (state === schemaMissing) throw new CommandFailure('the database is not prepared: run catalograph prepare')
    if (state === insufficientPrivilege)
      throw new CommandFailure('this role may not do that: set DATABASE_OWNER_URL to the owner of schema catalograph')
    throw error
  }
}

/** The secret of the keys and tokens, and where it is from. Throws CommandFailure without one. */
export async function secretOf(settings: Settings): Promise<{ readonly secret: string; readonly whose: string }> {
  if (settings.jwtSecret !== null) return { secret: settings.jwtSecret, whose: 'JWT_SECRET' }
  const secret = await embeddedSecret(settings)
  if (secret !== null) return { secret, whose: `the embedded database in ${settings.dataFolder}` }
  throw new CommandFailure(
    settings.databaseUrl === null && settings.databaseOwnerUrl === null
      ? 'no secret of keys and tokens is set: set JWT_SECRET, or run catalograph start once'
      : 'no secret of keys and tokens is set: set JWT_SECRET to the one that this database is served with',
  )
}
