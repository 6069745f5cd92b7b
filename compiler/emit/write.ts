import { join } from 'node:path'
import { currentFile } from '../../runtime/contract/artifact.ts'
import type { Artifacts } from './artifacts.ts'
import { localDisk, type Disk } from './disk.ts'

/**
 * Writes a revision into `<out>/<revision>/` and makes it the current one.
 *
 * Each step leaves `<out>` with one whole revision: the folder comes into being by a rename, then `current.json` names
 * it by a rename, and only then other revisions and what earlier crashes left are removed. Files that are not ours
 * stay. Rejects with the file system's error.
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
  // Not synced one by one: a torn file shows by the revision's hash, and compiling again fixes it.
  for (const [path, text] of Object.entries(files)) await disk.write(join(draft, path), text, false)
  await disk.rename(draft, folder)
}

/**
 * The folder is there already: the same revision, perhaps damaged or with types of another version. Each file is
 * replaced whole.
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

/** Revisions and drafts by their exact form: nothing else in the folder is touched. */
const ours = /^(?:[0-9a-f]{16}|[0-9a-f]{16}\.[0-9a-f]{12}\.tmp|current\.json\.[0-9a-f]{12}\.tmp)$/

async function removeOthers(out: string, id: string, disk: Disk): Promise<void> {
  for (const name of await disk.names(out)) {
    if (name !== id && ours.test(name)) await disk.remove(join(out, name))
  }
}
