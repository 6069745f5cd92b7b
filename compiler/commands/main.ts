import { text } from 'node:stream/consumers'
import { exitCodes, type Command } from './command.ts'
import { createOutput } from './output.ts'
import { createStage, unseen } from './progress.ts'
import { isVersion, runArguments } from './run.ts'
import { awaitStopSignal } from './signals.ts'

/** In the order of the help. Each has its own imports, so only the named one is loaded. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).startCommand,
  create: async () => (await import('./create.ts')).createCommand,
  dev: async () => (await import('./dev.ts')).devCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  prepare: async () => (await import('./prepare.ts')).prepareCommand,
  unprepare: async () => (await import('./unprepare.ts')).unprepareCommand,
  compile: async () => (await import('./compile.ts')).compileCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  annotate: async () => (await import('./annotate.ts')).annotateCommand,
  import: async () => (await import('./import.ts')).importCommand,
  schema: async () => (await import('./schema.ts')).schemaCommand,
  codegen: async () => (await import('./codegen.ts')).codegenCommand,
  diff: async () => (await import('./diff.ts')).diffCommand,
  cost: async () => (await import('./cost.ts')).costCommand,
  policies: async () => (await import('./policies.ts')).policiesCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  verify: async () => (await import('./verify.ts')).loadVerifyCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  auth: async () => (await import('./auth.ts')).authCommand,
  mails: async () => (await import('./mails.ts')).mailsCommand,
  settings: async () => (await import('./settings.ts')).settingsCommand,
  completion: async () => (await import('./completion.ts')).completionOf(loadAll),
}

const loadAll = (): Promise<readonly Command[]> => Promise.all(Object.values(commands).map((one) => one()))

/** The named command, none for the version, or all for the help and for unknown names. */
const load = ([name = '', about = '']: readonly string[]): Promise<readonly Command[]> => {
  if (isVersion(name)) return Promise.resolve([])
  const meant = name === 'help' ? about : name
  const one = Object.hasOwn(commands, meant) ? commands[meant] : undefined
  return one === undefined ? loadAll() : one().then((command) => [command])
}

/**
 * Runs the command of the command line, and ends the process with its exit code, once its output has been read. If the
 * reader disconnects, that is not a failure: a changing command completes, and a serving or watching one is asked to
 * end.
 */
export async function runCommandLine(args: readonly string[]): Promise<never> {
  let leave = (_signal: string): void => undefined
  const left = new Promise<string>((resolve) => (leave = resolve))
  const onLeft = (): void => leave('SIGPIPE')
  const out = createOutput(process.stdout, onLeft)
  const err = createOutput(process.stderr, onLeft)
  const exitCode = await runArguments(await load(args), args, {
    environment: process.env,
    print: out.line,
    note: err.line,
    stage: process.stderr.isTTY ? createStage(err.line) : unseen,
    human: process.stderr.isTTY,
    readInput: async () => (await text(process.stdin)).replace(/\r?\n$/, ''),
    stopRequested: (onReload) => Promise.race([awaitStopSignal(onReload), left]),
  })
  const failure = await out.finish()
  if (failure !== null) err.line(`catalograph: standard output cannot be written: ${failure}`)
  await err.finish()
  // Work that outlives its grace period, such as a running statement, does not keep the process alive.
  process.exit(failure === null ? exitCode : exitCodes.failed)
}
