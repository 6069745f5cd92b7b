import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Programs that a machine may lack, and what of them lies in files. Each look-up goes through here: HIDE_PROGRAMS=1 hides all of them,
 * so that the suite runs as on a machine with Node alone (npm run test:bare).
 */
const areHidden = (process.env['HIDE_PROGRAMS'] ?? '') !== ''

/** Whether there is such a file, by its whole path. */
export const isInstalled = (path: string): boolean => !areHidden && existsSync(path)

/** The output of a program of the path for these arguments; null: it is missing, or refuses them. */
export const printedBy = (program: string, ...args: readonly string[]): string | null => {
  if (areHidden) return null
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return null
  }
}

/** Null where a program answers; else what to install. */
export const unlessThere = (program: string, ...args: readonly string[]): string | null =>
  printedBy(program, ...args) === null ? `there is no ${program} on the path` : null

/** The title of tests that are skipped where something is missing. */
export const titled = (title: string, missing: string | null): string =>
  missing === null ? title : `${title} (SKIPPED: ${missing})`
