import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { diffLines } from '../../../compiler/emit/diff.ts'
import { localDisk } from '../../../compiler/emit/disk.ts'

/** Texts by path below a folder. */
export type KeptFiles = Readonly<Record<string, string>>

export async function filesIn(folder: string): Promise<KeptFiles> {
  const paths = await localDisk.files(folder)
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const)),
  )
}

/** Afterwards the folder has these files and no others. */
export async function replaceFiles(folder: string, files: KeptFiles): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** @throws where they differ, with the differences and `advice` */
export function demandSame(expected: KeptFiles, made: KeptFiles, advice: string): void {
  const paths = [...new Set([...Object.keys(expected), ...Object.keys(made)])].sort()
  const differences = paths
    .filter((path) => expected[path] !== made[path])
    .map((path) => {
      const stray = made[path] === undefined ? ' (stray file)' : ''
      return `--- ${path}${stray}\n${diffLines(expected[path] ?? '', made[path] ?? '')}`
    })
  if (differences.length > 0) throw new Error(`${differences.join('\n').slice(0, 20_000)}\n${advice}`)
}
