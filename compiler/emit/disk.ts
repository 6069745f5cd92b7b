import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The file system operations of writing artifacts. */
export interface Disk {
  /** Writes a new file and its folders. `durable` waits until the text would survive a power cut. */
  readonly write: (path: string, text: string, durable: boolean) => Promise<void>
  /** Moves a file or folder over another; atomic within one file system (POSIX rename). */
  readonly rename: (from: string, to: string) => Promise<void>
  /** Removes a file or folder with its content; succeeds if it does not exist. */
  readonly remove: (path: string) => Promise<void>
  /** Text of a file, or null if it does not exist. */
  readonly read: (path: string) => Promise<string | null>
  /** Paths of all files below a folder, relative to it; empty if it does not exist. */
  readonly files: (folder: string) => Promise<readonly string[]>
  /** Names of a folder's direct entries. */
  readonly names: (folder: string) => Promise<readonly string[]>
  /** A unique suffix of a name. */
  readonly unique: () => string
}

export const localDisk: Disk = {
  write: async (path, text, durable) => {
    await mkdir(dirname(path), { recursive: true })
    const file = await open(path, 'w')
    try {
      await file.writeFile(text, 'utf8')
      if (durable) await file.sync()
    } finally {
      await file.close()
    }
  },
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
  read: (path) => orNothing(readFile(path, 'utf8'), null),
  files: async (folder) => {
    const entries = await orNothing(readdir(folder, { withFileTypes: true, recursive: true }), [])
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
  },
  names: (folder) => orNothing(readdir(folder), []),
  unique: () => randomBytes(6).toString('hex'),
}

async function orNothing<T, N>(found: Promise<T>, nothing: N): Promise<T | N> {
  try {
    return await found
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothing
    throw error
  }
}
