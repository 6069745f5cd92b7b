import { register } from 'node:module'
import { builtinEnvironments } from 'vitest/runtime'

/** Vitest's environment of Node, whose modules are read by our hooks: a worker loads it before any test, after Vitest's own hooks. */
register('./hooks.mjs', import.meta.url)

export default builtinEnvironments.node
