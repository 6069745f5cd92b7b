/**
 * Runs one test file with options of its own:
 * node test/support/run-with-options.mjs PREFIX CONFIG FILE [--minutes 5 --seed 7 ...]
 * Each option reaches the file as an environment variable, here PREFIX_MINUTES and PREFIX_SEED; one without a value is `on`. `--pooler PROGRAM` puts that
 * PgBouncer before the database of any of them.
 */
import { startVitest } from 'vitest/node'

const [prefix, config, file, ...options] = process.argv.slice(2)
while (options.length > 0) {
  const name = options.shift()
  if (!name?.startsWith('--')) throw new Error(`not an option: ${name}`)
  const value = options[0] === undefined || options[0].startsWith('--') ? 'on' : options.shift()
  process.env[name === '--pooler' ? 'TEST_POOLER' : `${prefix}_${name.slice(2).toUpperCase()}`] = value
}
const vitest = await startVitest('test', [file], { run: true, watch: false, config })
await vitest?.close()
