import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of this package: the nearest one above this file, sources or compiled, with a package.json. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

export async function packageVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder(), 'package.json'), 'utf8')) as { version: string }
  return version
}

/** The commit that `npm run emit` built, marked where files differed from it; empty where it did not run in a clone. */
export const builtRevision = (): Promise<string> =>
  readFile(join(packageFolder(), 'dist/revision'), 'utf8').catch(() => '')
