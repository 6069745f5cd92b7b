#!/usr/bin/env node
import './tools/cli/node-version.ts'
import './tools/cli/production.ts'
import { text } from 'node:stream/consumers'
import type { Command } from './tools/cli/command.ts'
import { createStage, unseen } from './tools/cli/progress.ts'
import { runArguments } from './tools/cli/run.ts'
import { awaitStopSignal } from './tools/cli/signals.ts'

/** In the order of the help. Each comes with what it needs, so only the one that is named is loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./tools/cli/start.ts')).startCommand,
  serve: async () => (await import('./tools/cli/serve.ts')).serveCommand,
  doctor: async () => (await import('./tools/cli/doctor.ts')).doctorCommand,
  prepare: async () => (await import('./tools/cli/prepare.ts')).prepareCommand,
  compile: async () => (await import('./tools/cli/compile.ts')).compileCommand,
  report: async () => (await import('./tools/cli/report.ts')).reportCommand,
  annotate: async () => (await import('./tools/cli/annotate.ts')).annotateCommand,
  schema: async () => (await import('./tools/cli/schema.ts')).schemaCommand,
  codegen: async () => (await import('./tools/cli/codegen.ts')).codegenCommand,
  diff: async () => (await import('./tools/cli/diff.ts')).diffCommand,
  cost: async () => (await import('./tools/cli/cost.ts')).costCommand,
  verify: async () => (await import('./tools/cli/verify.ts')).verifyCommand,
  keys: async () => (await import('./tools/cli/keys.ts')).keysCommand,
  auth: async () => (await import('./tools/cli/auth.ts')).authCommand,
  mails: async () => (await import('./tools/cli/mails.ts')).mailsCommand,
  settings: async () => (await import('./tools/cli/settings.ts')).settingsCommand,
}

/** The command of that name, or all where there is none: for the help, and for who mistyped. */
const load = (name: string): Promise<readonly Command[]> =>
  Promise.all(
    (Object.hasOwn(commands, name) ? [commands[name]] : Object.values(commands)).flatMap((one) => one?.() ?? []),
  )

async function run(args: readonly string[]): Promise<never> {
  const note = (line: string): void => void process.stderr.write(`${line}\n`)
  const exitCode = await runArguments(await load(args[0] ?? ''), args, {
    environment: process.env,
    print: (line) => void process.stdout.write(`${line}\n`),
    note,
    stage: process.stderr.isTTY ? createStage(note) : unseen,
    human: process.stderr.isTTY,
    readInput: async () => (await text(process.stdin)).replace(/\r?\n$/, ''),
    stopRequested: awaitStopSignal,
  })
  // What outlived its grace period, such as a statement that still runs, does not keep the process.
  process.exit(exitCode)
}

// Not awaited: parts that are loaded later may import this file, and would wait for it for ever.
void run(process.argv.slice(2))
