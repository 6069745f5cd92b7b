import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Account } from './postgres-process.ts'

const run = promisify(execFile)
const user = 'postgres'

const numberOf = async (flag: '-u' | '-g'): Promise<number> =>
  Number.parseInt((await run('id', [flag, user])).stdout, 10)

const lookUp = async (): Promise<Account> => ({ uid: await numberOf('-u'), gid: await numberOf('-g') })

const create = async (): Promise<Account> => {
  await run('groupadd', ['--system', '--force', user])
  await run('useradd', ['--system', '--gid', user, '--no-create-home', user])
  return lookUp()
}

/** The account for the server: our own, or as root the system user `postgres`, created if it does not exist. */
export const serverAccount = async (): Promise<Account> => {
  if (process.getuid?.() !== 0) return null
  return lookUp().catch(create)
}

const mayTraverse = async (account: NonNullable<Account>, folder: string): Promise<boolean> => {
  const { mode, uid, gid } = await stat(folder)
  if (uid === account.uid) return (mode & 0o100) !== 0
  if (gid === account.gid) return (mode & 0o010) !== 0
  return (mode & 0o001) !== 0
}

/** Rejects with the first folder above `path` that the account may not enter. */
export const assertReachable = async (account: Account, path: string): Promise<void> => {
  if (account === null) return
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!(await mayTraverse(account, folder)))
      throw new Error(`The system user ${user} may not enter ${folder}, which Postgres needs to reach ${path}.`)
    if (folder === dirname(folder)) return
  }
}
