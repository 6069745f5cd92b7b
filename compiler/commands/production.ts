import { setFlagsFromString } from 'node:v8'

/**
 * Loaded before all else: unless NODE_ENV says production when graphql-js is loaded, it looks twice at every value that it is
 * given, which made translating a known document a half dearer. Whoever wants that sets NODE_ENV.
 */
process.env['NODE_ENV'] ??= 'production'

/**
 * What a request leaves behind dies young. V8 would give it up to 48 MB before it looks, and let what outlived that by chance wait
 * for a fourfold heap; with less it serves as fast (bench:memory). Whoever gives Node such options has the last word.
 */
const givenOptions = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ')
if (!/semi[-_]space/.test(givenOptions)) setFlagsFromString('--max-semi-space-size=4')
if (!/optimize[-_]for[-_]size/.test(givenOptions)) setFlagsFromString('--optimize-for-size')
