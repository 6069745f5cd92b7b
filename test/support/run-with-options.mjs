/**
 * Runs test files with options of their own:
 * node test/support/run-with-options.mjs PREFIX CONFIG FILE... [--minutes 5 --seed 7 ...]
 * Each option reaches the files as an environment variable, here PREFIX_MINUTES and PREFIX_SEED; one without a value is `on`.
 * `--topology NAME` puts that row of test/support/topologies.ts between a service and its data.
 */
import { startVitest } from 'vitest/node'

const [prefix, config, ...rest] = process.argv.slice(2)
const first = rest.findIndex((argument) => argument.startsWith('--'))
const [files, options] = first === -1 ? [rest, []] : [rest.slice(0, first), rest.slice(first)]
while (options.length > 0) {
  const name = options.shift()
  if (!name?.startsWith('--')) throw new Error(`not an option: ${name}`)
  const value = options[0] === undefined || options[0].startsWith('--') ? 'on' : options.shift()
  process.env[name === '--topology' ? 'TEST_TOPOLOGY' : `${prefix}_${name.slice(2).toUpperCase()}`] = value
}
const vitest = await startVitest('test', files, { run: true, watch: false, config })
await vitest?.close()
