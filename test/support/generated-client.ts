import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codegenCommand } from '../../compiler/commands/codegen.ts'
import { runCommand, type CommandAnswer } from './command.ts'
import { createDatabase, type TestDatabase } from './database.ts'

const root = new URL('../..', import.meta.url).pathname

/** A folder of an application that has installed the package, as `npm run build` made it. */
export interface Application {
  readonly folder: string
  /** Runs `catalograph codegen`. */
  readonly codegen: (
    args: readonly string[],
    environment?: Environment,
    stop?: Promise<string>,
  ) => Promise<CommandAnswer>
  /** The exports of a module of the folder. */
  readonly load: (path: string) => Promise<Module>
  /** The compiler's errors about files of the folder, also about declarations. The compiler is a folder of `typescript`. */
  readonly typeCheck: (files: readonly string[], options?: readonly string[], compiler?: string) => string
  readonly write: (path: string, text: string) => void
  readonly remove: () => void
}

export type Environment = Readonly<Record<string, string>>
// The exports of generated modules depend on their schema
export type Module = any

export function createApplication(): Application {
  const folder = mkdtempSync(join(tmpdir(), 'generated-client-'))
  mkdirSync(join(folder, 'node_modules/@catalograph'), { recursive: true })
  symlinkSync(join(root, 'runtime/client'), join(folder, 'node_modules/@catalograph/client'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return {
    folder,
    codegen: (args, environment = {}, stop = never) => runCodegen(args, environment, stop),
    load: (path) => import(/* @vite-ignore */ pathToFileURL(join(folder, path)).href),
    typeCheck: (files, options = [], compiler = join(root, 'node_modules/typescript')) =>
      typeCheck(folder, files, options, compiler),
    write: (path, text) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** An application with the client of a database, in its folder "db". */
export interface GeneratedApplication extends Application {
  readonly database: TestDatabase
  /** The compiler's errors about each of some statements, which have `client`, `db` and `functions`; none about correct ones. */
  readonly complaints: (uses: readonly string[]) => readonly string[]
  /** Removes both. */
  readonly close: () => Promise<void>
}

const useHead = `import { createClient } from '@catalograph/client'
import { createDb } from './db/db.js'
import { createFunctions } from './db/functions.js'
const client = createClient('https://project.example.com', 'key')
const db = createDb(client)
const functions = createFunctions(client)
void db; void functions`

/** Generates it for the role anon. */
export async function createGenerated(sql: string): Promise<GeneratedApplication> {
  const database = await createDatabase({ sql })
  const app = createApplication()
  const close = async (): Promise<void> => {
    app.remove()
    await database.drop()
  }
  const { exitCode, noted } = await app.codegen([
    '--from',
    database.ownerUrl,
    '--out',
    join(app.folder, 'db'),
    '--role',
    'anon',
  ])
  const complaints = (uses: readonly string[]): readonly string[] => {
    const files = uses.map((_, index) => `use${index}.ts`)
    for (const [index, use] of uses.entries()) app.write(`use${index}.ts`, `${useHead}\n${use}`)
    // At once, since the compiler takes seconds to begin.
    const said = app.typeCheck(files).split(/^(?=\S)/m)
    return files.map((file) => said.filter((text) => text.startsWith(`${file}(`)).join(''))
  }
  if (exitCode === 0) return { ...app, database, complaints, close }
  await close()
  throw new Error(`codegen ended with ${exitCode}: ${noted}`)
}

const never = new Promise<string>(() => undefined)

const runCodegen = (args: readonly string[], environment: Environment, stop: Promise<string>): Promise<CommandAnswer> =>
  runCommand([codegenCommand], ['codegen', ...args], { environment, stop })

/** The files that an application compiles: the compiler's own declarations are three quarters of the work. */
const skipped = '--skipDefaultLibCheck'
const strict =
  `--noEmit ${skipped} --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2022`.split(' ')

function typeCheck(folder: string, files: readonly string[], options: readonly string[], compiler: string): string {
  const all = [...strict, '--lib', 'ES2023,DOM', '--module', 'nodenext', ...options, ...files]
  const tsc = [join(compiler, 'bin/tsc'), ...all]
  const { stdout, stderr } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}
