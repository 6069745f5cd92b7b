#!/usr/bin/env node
import './commands/production.ts'
import { text } from 'node:stream/consumers'
import { authCommand } from './commands/auth.ts'
import { codegenCommand } from './commands/codegen.ts'
import { compileCommand } from './commands/compile.ts'
import { diffCommand } from './commands/diff.ts'
import { keysCommand } from './commands/keys.ts'
import { mailsCommand } from './commands/mails.ts'
import { runArguments } from './commands/run.ts'
import { serveCommand } from './commands/serve.ts'
import { settingsCommand } from './commands/settings.ts'
import { awaitStopSignal } from './commands/signals.ts'
import { startCommand } from './commands/start.ts'
import { verifyCommand } from './commands/verify.ts'

const commands = [
  startCommand,
  serveCommand,
  compileCommand,
  codegenCommand,
  diffCommand,
  verifyCommand,
  keysCommand,
  authCommand,
  mailsCommand,
  settingsCommand,
]

const exitCode = await runArguments(commands, process.argv.slice(2), {
  environment: process.env,
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  human: process.stderr.isTTY,
  readInput: async () => (await text(process.stdin)).replace(/\r?\n$/, ''),
  stopRequested: awaitStopSignal,
})
// What outlived its grace period, such as a statement that still runs, does not keep the process.
process.exit(exitCode)
