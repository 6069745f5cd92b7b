import { defineConfig } from 'vitest/config'

/** Benchmarks run alone, one after the other: `vitest run --config bench/vitest.config.ts bench/enumeration.ts`. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['bench/*.ts'],
    exclude: ['bench/*.config.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
