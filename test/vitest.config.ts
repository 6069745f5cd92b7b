import { defineConfig } from 'vitest/config'

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
    // Test files of one worker share its modules: none of ours keeps anything (test/architecture.test.ts), and loading
    // them anew for each file took as long as a quarter of the tests.
    isolate: false,
    // More than CI has cores: tests wait for clocks, mails and locks as well.
    maxWorkers: 3,
  },
})
