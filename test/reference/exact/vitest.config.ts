import { defineConfig } from 'vitest/config'

/** The long run is not a test file of the suite: it is started by its own script, with its options in the environment. */
export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/reference/exact/*.exact.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 24 * 3_600_000,
    hookTimeout: 60_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
