import { join, dirname } from 'node:path'
import { currentFile } from '../../runtime/contract/artifact.ts'
import type { Artifacts } from './artifacts.ts'
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'

/**
 * Writes a revision into `<out>/<revision>/` and makes it the current one.
 *
 * Each step leaves `<out>` with one complete revision: the folder is created by a rename, then `current.json` names it
 * by a rename, and only then other revisions and the rest of earlier crashes are removed. Foreign files stay. Rejects
 * with the file system's error.
 */
export async function writeArtifacts(
  out: string,
  { revision, files, kept = new Set() }: Artifacts,
  disk: Disk = localDisk,
): Promise<void> {
  const folder = join(out, revision.id)
  const present = await disk.files(folder)
  if (present.length === 0) await writeFolder(folder, files, disk)
  else await mendFolder(folder, files, kept, disk)
  await replace(join(out, currentFile), currentText(revision.id), disk)
  // A server that misses one of these finds the mark of the new ones.
  for (const path of present) if (!Object.hasOwn(files, path)) await disk.remove(join(folder, path))
  await removeOthers(out, revision.id, disk)
}

export const currentText = (id: string): string => `${JSON.stringify({ revision: id })}\n`

async function writeFolder(folder: string, files: Artifacts['files'], disk: Disk): Promise<void> {
  const draft = `${folder}.${disk.unique()}.tmp`
  // Without a sync for each: the revision's hash detects a torn file, and compiling again repairs it.
  for (const [path, text] of Object.entries(files)) await disk.write(join(draft, path), text, false)
  await disk.rename(draft, folder)
}

/**
 * The folder exists already: the same revision, possibly damaged or with types of another version. Each file is
 * replaced as a whole.
 */
async function mendFolder(
  folder: string,
  files: Artifacts['files'],
  kept: ReadonlySet<string>,
  disk: Disk,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (!kept.has(path) && (await disk.read(join(folder, path))) !== text) await replace(join(folder, path), text, disk)
  }
}

async function replace(path: string, text: string, disk: Disk): Promise<void> {
  const draft = `${path}.${disk.unique()}.tmp`
  await disk.write(draft, text, true)
  await disk.rename(draft, path)
}

/** Revisions and drafts by their exact form: other entries of the folder are left alone. */
const ours = /^(?:[0-9a-f]{16}|[0-9a-f]{16}\.[0-9a-f]{12}\.tmp|current\.json\.[0-9a-f]{12}\.tmp)$/

async function removeOthers(out: string, id: string, disk: Disk): Promise<void> {
  for (const name of await disk.names(out)) {
    if (name !== id && ours.test(name)) await disk.remove(join(out, name))
  }
}

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
