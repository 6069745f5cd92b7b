import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const clientPackage = '@catalograph/client'

/** Whether modules of a folder find it, in the folder itself or in one above (Node manual, Modules). */
export function isClientInstalled(folder: string): boolean {
  const here = resolve(folder)
  if (existsSync(join(here, 'node_modules', clientPackage, 'package.json'))) return true
  return dirname(here) !== here && isClientInstalled(dirname(here))
}
