import { register } from 'node:module'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longest, or wait longest, begin before all others: a long one that began last would be waited for alone. Where none
 * has run before, the others begin by their size.
 */
const longest = `
  promises/without-an-addition runtime/auth/hash-kinds bench/smoke golden reference/exact/exact-documents
  runtime/auth/mails/sending promises/live-topologies runtime/auth/level runtime/auth/not-enabled promises/password-model
  promises/several-hosts runtime/graphql/operation/limits promises/ordinary-owner compiler/commands/advise/diff/diff
  promises/stale-reads runtime/graphql/apart reference/exact/live-answers browser/dashboard browser/many-tables
  reference/verify compiler/incremental promises/citus-nodes promises/unread-answers promises/slow-requests
  promises/token-models
`
  .trim()
  .split(/\s+/)

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  return place === -1 ? longest.length : place
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b))
  }
}

// For the global set-up, which this process loads.
register('./support/loading/hooks.mjs', import.meta.url)

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Alone, by its own script: test/support/siege/vitest.config.ts.
    exclude: ['test/promises/siege.test.ts', '**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Schemas and statements are made and forgotten all the time: with room for them, collecting takes a tenth of the CPU less. Flags
    // that are given keep a served command from setting them for all tests of its worker (compiler/commands/small-heap.ts).
    execArgv: ['--max-semi-space-size=64', '--heap-growing-percent=200', '--compilation-cache'],
    // Modules are Node's own: handed over one by one by Vite, they take twice the time to load.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    environment: new URL('support/loading/environment.mjs', import.meta.url).pathname,
    // Test files of one worker share its modules: none of ours keeps anything (test/architecture.test.ts), and loading
    // them again for each file took as long as a quarter of the tests.
    isolate: false,
    // More than CI has cores: tests wait for clocks, mails and locks as well.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
})
