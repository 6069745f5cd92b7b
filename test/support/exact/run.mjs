/**
 * npm run test:exact -- [--minutes N] [--seed S] [--replay FILE] [--out FOLDER]
 * Starts vitest on run.exact.ts with these options in the environment.
 */
import { parseArgs } from 'node:util'
import { startVitest } from 'vitest/node'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    replay: { type: 'string', default: '' },
    out: { type: 'string', default: 'exact-failures' },
  },
})

for (const [name, value] of Object.entries(values)) process.env[`EXACT_${name.toUpperCase()}`] = value
const vitest = await startVitest('test', ['run.exact.ts'], { run: true, watch: false, config: new URL('vitest.config.ts', import.meta.url).pathname })
await vitest.close()
