import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, chmodSync } from 'node:fs'
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
chmodSync(home, 0o777)
const unprivileged = { uid: 65_534, gid: 65_534 }

/** A clone below a folder of root's alone is closed to everybody else. */
const mayRead = (user) =>
  spawnSync(process.execPath, ['-e', 'require("node:fs").readdirSync("test")'], user).status === 0

function userOf() {
  if (process.getuid?.() !== 0) return {}
  if (mayRead(unprivileged)) return unprivileged
  console.error('test:bare: an ordinary user may not read this folder, so the tests run as root.')
  return {}
}
// Git refuses a repository of another user unless safe.directory names it.
const git = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' }
const env = { ...process.env, ...git, HOME: home, HIDE_PROGRAMS: '1' }
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'test/vitest.config.ts',
  '--configLoader',
  'runner',
  ...files,
]
const { status } = spawnSync(process.execPath, vitest, { stdio: 'inherit', env, ...userOf() })
process.exitCode = status ?? 1
