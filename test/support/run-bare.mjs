import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs the tests as on a machine with Node alone: every optional program is hidden (test/support/programs.ts), and who is root runs them
 * as a user without rights:
 * node test/support/run-bare.mjs [FILE ...]     without a file: the whole suite
 * node test/support/run-bare.mjs --optional     the files that look for an optional program
 */
const given = process.argv.slice(2)

/** Modules of test/support through which a test file looks for a program. */
const lookups = /support\/(?:programs|chromium|poolers|pgbouncer|pgcat|distributed|describe-present|certificates)\.ts'/

const optional = () =>
  readdirSync('test', { recursive: true })
    .map((name) => join('test', name))
    .filter((path) => path.endsWith('.test.ts') && lookups.test(readFileSync(path, 'utf8')))

const files = given[0] === '--optional' ? optional() : given
const home = mkdtempSync(join(tmpdir(), 'catalograph-bare-'))

/** Root has the tests run by a user without rights, in a copy that belongs to this user as a clone would. */
function asOrdinaryUser() {
  if (process.getuid?.() !== 0) return {}
  const user = { uid: 65_534, gid: 65_534 }
  const cwd = join(home, 'clone')
  execFileSync('cp', ['-a', process.cwd(), cwd])
  execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, home])
  return { ...user, cwd }
}

// npm hands on settings of the user who called it, such as the folder of the cache.
const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))
const env = { ...Object.fromEntries(own), HOME: home, HIDE_PROGRAMS: '1' }
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...files]
const { status } = spawnSync(process.execPath, vitest, { stdio: 'inherit', env, ...asOrdinaryUser() })
rmSync(home, { recursive: true, force: true })
process.exitCode = status ?? 1
