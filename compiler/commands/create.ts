import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { didYouMean } from '../../runtime/lib/text.ts'
import { CommandFailure, exitCodes, misuse, textOption, type Command } from './command.ts'
import { packageFolder, packageVersion } from '../../runtime/lib/package.ts'

/** Folders of templates; each is put on top of `common`. */
const templates: Readonly<Record<string, string>> = {
  vite: 'React in the browser, with Vite',
  ssr: 'React rendered on a server, with sessions in cookies',
}

/** npm leaves files of these names out of a package, or reads them as its own. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  'env.example': '.env.example',
  'graphqlrc.json': '.graphqlrc.json',
}

export const createCommand: Command = {
  name: 'create',
  summary: 'Write an application with sign-up, policies and live lists.',
  description: [
    'Writes a folder of this name; `npm install && npm run dev` there starts it, with a Postgres of its own. Templates:',
    ...Object.entries(templates).map(([name, about]) => `  ${name.padEnd(6)}${about}`),
  ].join('\n'),
  options: { template: { value: 'TEMPLATE', help: `${Object.keys(templates).join(' or ')} (default: vite).` } },
  takes: 'NAME',
  run: async (given, terminal, [name, ...more]) => {
    if (name === undefined || more.length > 0) throw misuse('create takes the name of the application')
    const template = textOption(given, 'template') ?? 'vite'
    if (!Object.hasOwn(templates, template))
      throw misuse(`there is no template ${template}${didYouMean(template, Object.keys(templates))}`)
    // Rules of npm for names of packages.
    if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name))
      throw misuse(`${name} cannot be the name: use small letters, digits and hyphens, such as my-app`)
    const folder = resolve(name)
    if (existsSync(folder) && (await readdir(folder)).length > 0)
      throw new CommandFailure(`${folder} exists and is not empty: choose another name, or remove it`)
    const files = await writeWhole(folder, (unfinished) => writeApplication(unfinished, name, template))
    terminal.print(`${name}: ${files} files`)
    terminal.print(`cd ${name} && npm install && npm run dev`)
    return exitCodes.done
  },
}

/** Writes beside the folder, and renames at the end: after a failure there is nothing. */
async function writeWhole<T>(folder: string, write: (unfinished: string) => Promise<T>): Promise<T> {
  const unfinished = await mkdtemp(`${folder}.unfinished-`)
  try {
    const inner = join(unfinished, basename(folder))
    await mkdir(inner)
    const value = await write(inner)
    await rename(inner, folder)
    return value
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

async function writeApplication(folder: string, name: string, template: string): Promise<number> {
  const source = join(packageFolder(), 'compiler', 'commands', 'create', 'templates')
  for (const part of ['common', template]) await cp(join(source, part), folder, { recursive: true })
  for (const [from, to] of Object.entries(renamed)) await rename(join(folder, from), join(folder, to))
  await edit(join(folder, 'README.md'), (text) => text.replaceAll('NAME', name))
  const packages = await ownPackages(folder)
  await edit(join(folder, 'package.json'), (text) => {
    const manifest = JSON.parse(text) as Manifest
    const dependencies = { '@catalograph/client': packages.client, ...manifest.dependencies }
    const devDependencies = { ...manifest.devDependencies, catalograph: packages.catalograph }
    return `${JSON.stringify({ name, version: '0.0.0', ...manifest, dependencies, devDependencies }, null, 2)}\n`
  })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).length
}

interface Manifest {
  readonly dependencies: object
  readonly devDependencies: object
}

const edit = async (file: string, change: (text: string) => string): Promise<void> =>
  writeFile(file, change(await readFile(file, 'utf8')))

interface OwnPackages {
  readonly catalograph: string
  readonly client: string
}

/** Our packages as dependencies: this version or, from a clone, tarballs of what was built there. */
async function ownPackages(folder: string): Promise<OwnPackages> {
  const root = packageFolder()
  const client = join(root, 'runtime', 'client')
  if (!existsSync(join(client, 'package.json'))) {
    const version = `^${await packageVersion()}`
    return { catalograph: version, client: version }
  }
  const place = join(folder, 'packages')
  await mkdir(place)
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', place, '.', client]
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new CommandFailure('npm was not found, which packs this clone for the application: install it with Node')
  })
  const [server, library] = (JSON.parse(stdout) as readonly { readonly filename: string }[]).map(
    ({ filename }) => `file:packages/${filename}`,
  )
  if (server === undefined || library === undefined) throw new CommandFailure('npm pack made no packages')
  return { catalograph: server, client: library }
}
