#!/usr/bin/env node
import './commands/node-version.ts'
import './commands/navigator.ts'
import './commands/production.ts'

// Loaded afterwards: a module that an old Node does not support fails when it is linked, before any of it runs.
void import('./commands/main.ts').then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
