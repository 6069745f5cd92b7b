#!/usr/bin/env node
import './tools/cli/node-version.ts'
import './tools/cli/navigator.ts'
import './tools/cli/production.ts'

// Loaded afterwards: a module that needs more than an old Node has fails when it is linked, before anything of it runs.
void import('./tools/cli/main.ts').then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
