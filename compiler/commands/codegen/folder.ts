import { join } from 'node:path'
import { isChange, type FileChange } from '../../emit/diff.ts'
import { localDisk } from '../../emit/disk.ts'
import type { Files } from './client.ts'

/**
 * The folder of a generated client. Generated files have a line at their head, by which they are recognised: files
 * without it are foreign, and are neither replaced nor removed.
 */

const made = 'Made by catalograph codegen'

/** The member instead of the line in JSON, which has no comments. */
export const headerMember = '//'

/** The beginnings of files. */
const heads = [`// ${made}`, `{\n  "${headerMember}": "${made}`]

export const withGeneratedHeader = (files: Files, role: string): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const line = `${made} for the role ${role}. Changes to it are lost.`
      return [
        path,
        path.endsWith('.json')
          ? `{\n  "${headerMember}": ${JSON.stringify(line)},${text.slice(1)}`
          : `// ${line}\n${text}`,
      ]
    }),
  )

export interface Changes {
  readonly files: readonly FileChange[]
  /** Foreign files in the place of ours. */
  readonly foreign: readonly string[]
}

export async function findChanges(folder: string, files: Files): Promise<Changes> {
  const present = new Set(await localDisk.files(folder))
  const paths = [...new Set([...present, ...Object.keys(files)])].sort()
  const changed: FileChange[] = []
  const foreign: string[] = []
  for (const path of paths) {
    const before = present.has(path) ? await localDisk.read(join(folder, path)) : null
    const after = Object.hasOwn(files, path) ? (files[path] ?? null) : null
    if (before === null || heads.some((head) => before.startsWith(head))) changed.push({ path, before, after })
    else if (after !== null) foreign.push(path)
  }
  return { files: changed.filter(isChange), foreign }
}

/** Writes the files that differ; others keep their times, which watchers and incremental compilers use. */
export async function applyChanges(folder: string, { files }: Changes): Promise<void> {
  for (const { path, after } of files) {
    const place = join(folder, path)
    if (after === null) {
      await localDisk.remove(place)
      continue
    }
    const draft = `${place}.${localDisk.unique()}.tmp`
    await localDisk.write(draft, after, false)
    await localDisk.rename(draft, place)
  }
}
