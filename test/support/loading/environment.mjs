import { register } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { builtinEnvironments } from 'vitest/runtime'

/** Vitest's environment of Node, whose modules are read by our hooks: a worker loads it before any test, after Vitest's own hooks. */
register('./hooks.mjs', import.meta.url)

// Most code runs a few times: to optimise it as soon as a server would takes a seventh of the CPU, and laws win nothing by it. The V8
// of later versions has no such flag.
if (process.version.startsWith('v20.')) setFlagsFromString('--interrupt-budget=800000')

export default builtinEnvironments.node
