#!/usr/bin/env node
import './tools/cli/node-version.ts'
import './tools/cli/navigator.ts'
import './tools/cli/production.ts'
import type * as commandLine from './tools/cli/main.ts'

// Loaded afterwards: a module that needs more than an old Node has fails when it is linked, before anything of it runs.
void import('./tools/cli/parts.ts').then(({ createLoadPart }) => {
  const { runCommandLine } = createLoadPart(import.meta.dirname)('part-main.cjs') as typeof commandLine
  return runCommandLine(process.argv.slice(2))
})
