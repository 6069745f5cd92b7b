import { spawn } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { esmExternalRequirePlugin } from 'rolldown/plugins'
import { freePort } from '../../../runtime/db/embedded/free-port.ts'
import { printedBy } from '../programs.ts'

/** Runtimes other than Node, which run the handler as their users would. */

/** The arguments of an app: its port, the folder of artifacts, and those of app.mjs. */
export interface AppSettings {
  readonly folder: string
  /** The same artifacts as JSON. */
  readonly artifacts: string
  readonly databaseUrl: string
  readonly jwtSecret: string
  /** The certificate of who signed the server's. */
  readonly authority: string
}

export interface RuntimeRow {
  readonly name: string
  /** Names the program where it is not on the path. */
  readonly variable: string
  /** Whether connections may outlive their requests. */
  readonly keeps: boolean
  /** Whether a client that ends its connection counts as one that waits for its answer. */
  readonly toleratesEnd?: true
  /** Its arguments, once what they name is in the project. */
  readonly argumentsFor: (project: string, port: number, settings: AppSettings) => Promise<readonly string[]>
}

const copied = async (project: string, ...names: readonly string[]): Promise<void> => {
  for (const name of names) await copyFile(new URL(name, import.meta.url), join(project, name))
}

export const runtimeTable: readonly RuntimeRow[] = [
  {
    name: 'deno',
    variable: 'TEST_DENO',
    keeps: true,
    argumentsFor: async (project) => {
      await copied(project, 'app.mjs', 'deno.mjs')
      return ['run', '--allow-all', 'deno.mjs']
    },
  },
  {
    name: 'bun',
    variable: 'TEST_BUN',
    keeps: true,
    argumentsFor: async (project) => {
      await copied(project, 'app.mjs', 'bun.mjs')
      return ['bun.mjs']
    },
  },
  {
    name: 'workerd',
    variable: 'TEST_WORKERD',
    keeps: false,
    toleratesEnd: true,
    argumentsFor: async (project, port, { artifacts, authority, ...others }) => {
      await copied(project, 'app.mjs', 'worker.mjs')
      await writeFile(join(project, 'artifacts.json'), artifacts)
      await bundleWorker(project)
      await writeFile(join(project, 'config.capnp'), workerConfig(port, { ...others, authority }))
      return ['serve', 'config.capnp']
    },
  },
]

async function bundleWorker(project: string): Promise<void> {
  const bundle = await rolldown({
    input: join(project, 'worker.mjs'),
    platform: 'neutral',
    resolve: { conditionNames: ['workerd'], mainFields: ['module', 'main'] },
    // As bundlers for workers do: what `require` names becomes an import.
    plugins: [esmExternalRequirePlugin({ external: [/^(?:node|cloudflare):/, ...builtinModules] })],
  })
  await bundle.write({ file: join(project, 'bundle.mjs'), format: 'es' })
  await bundle.close()
}

/** https://github.com/cloudflare/workerd, src/workerd/server/workerd.capnp */
const workerConfig = (port: number, settings: Omit<AppSettings, 'artifacts'>): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .app),
    (name = "internet", network = (
      allow = ["public", "private"],
      tlsOptions = (trustedCertificates = [${JSON.stringify(settings.authority)}])
    ))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const app :Workerd.Worker = (
  modules = [(name = "bundle.mjs", esModule = embed "bundle.mjs")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat", "enable_request_signal"],
  bindings = [(name = "APP", text = ${JSON.stringify(JSON.stringify(settings))})]
);
`

/** The program of a runtime; null: there is none on this machine. */
export function programOf({ name, variable }: RuntimeRow): string | null {
  const program = process.env[variable] ?? name
  return printedBy(program, '--version') === null ? null : program
}

export interface RunningApp {
  readonly url: string
  /** Its output so far. */
  readonly said: () => string
  readonly stop: () => Promise<void>
}

export async function startApp(
  runtime: RuntimeRow,
  program: string,
  project: string,
  settings: AppSettings,
): Promise<RunningApp> {
  const port = await freePort()
  const args = await runtime.argumentsFor(project, port, settings)
  const { artifacts: _left, ...others } = settings
  const env = { PATH: process.env['PATH'], HOME: project, APP: JSON.stringify({ port, ...others }) }
  const child = spawn(program, args, { cwd: project, env })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let hasEnded = false
  void ended.then(() => (hasEnded = true))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  const url = `http://127.0.0.1:${port}`
  const until = performance.now() + 20_000
  while (!(await fetch(`${url}/fresh`).catch(() => null))) {
    if (hasEnded || performance.now() > until) {
      await stop()
      throw new Error(`${runtime.name} does not answer: ${said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url, said: () => said, stop }
}
