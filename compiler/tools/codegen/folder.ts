import { join } from 'node:path'
import type { FileDifference } from '../../emit/diff.ts'
import { diffLines } from '../../emit/diff-lines.ts'
import { localDisk, type Disk } from '../../emit/disk.ts'
import type { Files } from './client.ts'

/**
 * The folder of a generated client. What is made bears a line at its head, by which it is known again: files without it
 * are somebody's own, and are neither replaced nor removed.
 */

const generatedHeader = '// Made by catalograph codegen'
export const withGeneratedHeader = (files: Files, role: string): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      `${generatedHeader} for the role ${role}. Changes to it are lost.\n${text}`,
    ]),
  )

/** What writing would change. */
export interface Changes {
  readonly files: readonly Change[]
  /** Files of somebody else's where ours would stand. */
  readonly foreign: readonly string[]
}

interface Change {
  readonly path: string
  /** Null where there is no file. */
  readonly before: string | null
  readonly after: string | null
}

export async function findChanges(folder: string, files: Files, disk: Disk = localDisk): Promise<Changes> {
  const present = new Set(await disk.files(folder))
  const paths = [...new Set([...present, ...Object.keys(files)])].sort()
  const changed: Change[] = []
  const foreign: string[] = []
  for (const path of paths) {
    const before = present.has(path) ? await disk.read(join(folder, path)) : null
    const after = Object.hasOwn(files, path) ? (files[path] ?? null) : null
    if (before === null || before.startsWith(generatedHeader)) changed.push({ path, before, after })
    else if (after !== null) foreign.push(path)
  }
  return { files: changed.filter(({ before, after }) => before !== after), foreign }
}

/** For people: comparing texts line by line takes longer than writing them. */
export const differencesOf = ({ files }: Changes): readonly FileDifference[] =>
  files.map(({ path, before, after }) => ({
    path,
    kind: before === null ? 'added' : after === null ? 'removed' : 'changed',
    diff: diffLines(before ?? '', after ?? ''),
  }))

/** Writes what differs, each file whole; others keep their times, which watchers and incremental compilers go by. */
export async function applyChanges(folder: string, { files }: Changes, disk: Disk = localDisk): Promise<void> {
  for (const { path, after } of files) {
    const place = join(folder, path)
    if (after === null) {
      await disk.remove(place)
      continue
    }
    const draft = `${place}.${disk.unique()}.tmp`
    await disk.write(draft, after, false)
    await disk.rename(draft, place)
  }
}
