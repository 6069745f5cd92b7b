import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'

/** The stored result of a run, for comparison. */
export interface RunRecord {
  readonly bench: string
  readonly at: string
  readonly commit: string
  readonly machine: Readonly<Record<string, string | number>>
  readonly versions: Readonly<Record<string, string>>
  /** Numbers by path, such as `serve.page.limit.perSecond`: a list has one per round. */
  readonly figures: Readonly<Record<string, number | readonly number[]>>
}

/** The project's folder: benchmarks are started in it (run.mjs), as tests are. */
export const projectFolder = process.cwd()

/** The built command line. */
export const commandLine = join(projectFolder, 'dist/compiler/cli.js')

const git = (...args: readonly string[]): string => {
  try {
    return execFileSync('git', args, {
      cwd: projectFolder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}

const commit = (): string =>
  `${git('rev-parse', '--short=12', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+changes'}`

const machine = (): RunRecord['machine'] => ({
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()}`,
  loadAverage: loadavg()[0] ?? 0,
})

const versionOf = async (name: string): Promise<string> => {
  const text = await readFile(join(projectFolder, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

const versions = async (more: Readonly<Record<string, string>>): Promise<RunRecord['versions']> => {
  const names = ['fastify', 'graphql', 'pg']
  const found = await Promise.all(names.map(async (name) => [name, await versionOf(name)] as const))
  return { node: process.versions.node, ...Object.fromEntries(found), ...more }
}

export interface Findings {
  readonly bench: string
  readonly figures: RunRecord['figures']
  /** Versions beside those of Node and our packages, such as that of Postgres. */
  readonly versions?: Readonly<Record<string, string>>
}

/**
 * Writes the record of a run to `file` (option --json) or, without one, to bench/records, which git ignores, or to the
 * folder BENCH_RECORDS.
 * @returns its path
 */
export const writeRecord = async (findings: Findings, file: string | null): Promise<string> => {
  const at = new Date().toISOString()
  const record: RunRecord = {
    bench: findings.bench,
    at,
    commit: commit(),
    machine: machine(),
    versions: await versions(findings.versions ?? {}),
    figures: findings.figures,
  }
  const folder = process.env['BENCH_RECORDS'] ?? join(projectFolder, 'bench', 'records')
  if (file === null) await mkdir(folder, { recursive: true })
  const path = file ?? join(folder, `${at.slice(0, 19).replaceAll(':', '')}-${findings.bench}.json`)
  await writeFile(path, `${JSON.stringify(record, null, 2)}\n`)
  console.info(`\nRecord: ${path}`)
  return path
}
