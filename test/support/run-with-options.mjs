/**
 * Runs one test file with options of its own:
 * node test/support/run-with-options.mjs PREFIX CONFIG FILE [--minutes 5 --seed 7 ...]
 * Each option reaches the file as an environment variable, here PREFIX_MINUTES and PREFIX_SEED. `--pooler PROGRAM` puts that
 * PgBouncer before the database of any of them.
 */
import { startVitest } from 'vitest/node'

const [prefix, config, file, ...options] = process.argv.slice(2)
for (let index = 0; index < options.length; index += 2) {
  const [name, value] = [options[index], options[index + 1]]
  if (!name?.startsWith('--') || value === undefined)
    throw new Error(`not an option and its value: ${options.slice(index).join(' ')}`)
  process.env[name === '--pooler' ? 'TEST_POOLER' : `${prefix}_${name.slice(2).toUpperCase()}`] = value
}
const vitest = await startVitest('test', [file], { run: true, watch: false, config })
await vitest?.close()
