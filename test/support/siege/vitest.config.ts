import { defineConfig } from 'vitest/config'

/** The siege measures what honest callers wait for, so nothing else of the suite runs beside it. */
export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/promises/siege.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    hookTimeout: 60_000,
    pool: 'forks',
    disableConsoleIntercept: true,
  },
})
