import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { loginOf } from '../../runtime/db/connect/server.ts'
import { reasonOf } from '../../runtime/db/failures/failures.ts'
import { settingKeys } from '../../runtime/settings/keys.ts'
import { configName, fileSuffix, gatherSettings, type Environment } from '../../runtime/settings/sources.ts'
import { prepareDatabase, wayOut } from '../following/prepare/prepare.ts'
import { type Check, type CheckConfiguration, readConfiguration, usualFile } from './check/configuration.ts'
import { type ScratchUrls, withScratch } from './check/scratch.ts'
import { type Command, type Terminal, CommandFailure, exitCodes, textOption } from './command.ts'
import { readGiven } from './given-documents.ts'
import { applyMigrations, readMigrations } from './migrations.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { unseen } from './progress.ts'

export const checkCommand: Command = {
  name: 'check',
  summary: 'Run all checks of a project: for CI, and before a commit.',
  description:
    'Makes a database of the migrations and runs the checks that the file names: diff, cost, compile, codegen, policies,\n' +
    'verify. All run even if one fails; the output of one that fails follows its line. The database is made on the server\n' +
    'of DATABASE_OWNER_URL, or of an embedded Postgres where neither that nor DATABASE_URL is set, and dropped afterwards.\n' +
    'With --write it writes what cost, compile and codegen compare with, from the same database.\n\n' +
    'Exit codes: 0 all passed, 1 one failed, 2 the file or a value in it is wrong.',
  options: {
    config: { value: 'FILE', help: `The file that names the checks (default: ${usualFile}).` },
    write: { value: null, help: 'Write certificates, artifacts and clients, in place of comparing them.' },
  },
  run: async (given, terminal) => {
    const file = textOption(given, 'config') ?? usualFile
    const { environment } = gatherSettings(terminal.environment)
    const whole = await readConfiguration(file, terminal.environment)
    const checks = given['write'] === true ? whole.checks.flatMap(asWriting) : whole.checks
    const configuration = { ...whole, checks }
    if (configuration.migrations === null) return runChecks(checks, environment, terminal)
    // The database is dropped when the command is stopped, too.
    const stopped = terminal.stopRequested().then((signal) => {
      throw new CommandFailure(`stopped by ${signal}`)
    })
    return withScratch(neededSettingsOf(terminal), terminal.stage, (urls) =>
      Promise.race([checkMigrated(configuration, urls, environment, terminal), stopped]),
    )
  },
}

const asWriting = ({ writing, ...check }: Check): readonly Check[] =>
  writing === null ? [] : [{ ...check, options: writing, writing }]

async function checkMigrated(
  configuration: CheckConfiguration,
  urls: ScratchUrls,
  environment: Environment,
  terminal: Terminal,
): Promise<number> {
  const scratch = { ...withoutDatabases(environment), DATABASE_OWNER_URL: urls.owner, DATABASE_URL: urls.login }
  const made = await outcomeOf('migrations', () => makeDatabase(configuration, urls, scratch))
  report(made, terminal)
  if (made.exitCode === exitCodes.done) return runChecks(configuration.checks, scratch, terminal)
  for (const { name } of configuration.checks) terminal.print(`${checkLabel(name)}not run`)
  return made.exitCode
}

const databaseSettings: ReadonlySet<string> = new Set(
  Object.values(settingKeys).flatMap(({ env }) => (env.startsWith('DATABASE_') ? [env, `${env}${fileSuffix}`] : [])),
)

/** Without the settings that would lead the checks to another database. */
const withoutDatabases = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => name !== configName && !databaseSettings.has(name)))

/** As production was made: prepared, then the migrations, then rows. */
async function makeDatabase(
  { migrations, seed, auth }: CheckConfiguration,
  { owner, login }: ScratchUrls,
  environment: Environment,
): Promise<number> {
  const prepared = await prepareDatabase({ url: owner, login: loginOf(login) })
  if (!prepared.ready) throw new CommandFailure(`the database cannot be prepared: ${wayOut(prepared)}`)
  if (auth) await migrateAuth({ url: owner })
  if (migrations !== null && 'command' in migrations) await runMigrationTool(migrations.command, environment)
  if (migrations !== null && 'folder' in migrations)
    await applyMigrations(owner, await readMigrations(migrations.folder))
  await applyMigrations(
    owner,
    seed.map((file) => ({ file, sql: readGiven(file, 'seed'), together: true })),
  )
  return exitCodes.done
}

/** The tool gets the database as DATABASE_URL. */
async function runMigrationTool(command: string, environment: Environment): Promise<void> {
  const env = { ...environment, DATABASE_URL: environment['DATABASE_OWNER_URL'] }
  const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [printed, noted, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new CommandFailure(`${command} ended with exit code ${code}:\n${noted}${printed}`.trimEnd())
}

interface CheckOutcome {
  readonly name: string
  readonly exitCode: number
  readonly output: string
}

async function runChecks(checks: readonly Check[], environment: Environment, terminal: Terminal): Promise<number> {
  const codes: number[] = []
  const stale: string[] = []
  for (const check of checks) {
    terminal.stage(`Running ${check.name}`)
    const outcome = await outcomeOf(check.name, (print) =>
      runCheck(check, { ...terminal, environment, stage: unseen, print, note: print }),
    )
    report(outcome, terminal)
    codes.push(outcome.exitCode)
    if (outcome.exitCode === exitCodes.failed && check.writing !== null) stale.push(check.name)
  }
  if (stale.length > 0) terminal.note(`catalograph: catalograph check --write makes these again: ${stale.join(', ')}`)
  if (codes.includes(exitCodes.misused)) return exitCodes.misused
  return codes.every((code) => code === exitCodes.done) ? exitCodes.done : exitCodes.failed
}

function runCheck({ command, options, args }: Check, terminal: Terminal): Promise<number> {
  if (command.lacking !== undefined) throw new CommandFailure(command.lacking)
  return command.run(options, terminal, args)
}

async function outcomeOf(name: string, run: (print: (line: string) => void) => Promise<number>): Promise<CheckOutcome> {
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  try {
    return { name, exitCode: await run(print), output: lines.join('\n') }
  } catch (error) {
    const exitCode = error instanceof CommandFailure ? error.exitCode : exitCodes.failed
    return { name, exitCode, output: [...lines, reasonOf(error)].join('\n') }
  }
}

const checkLabel = (name: string): string => name.padEnd(12)

function report({ name, exitCode, output }: CheckOutcome, { print }: Terminal): void {
  print(`${checkLabel(name)}${exitCode === exitCodes.done ? 'ok' : 'failed'}`)
  if (exitCode !== exitCodes.done && output !== '') print(withoutMiddle(output.split('\n')).replace(/^(?=.)/gm, '  '))
}

const [firstLines, lastLines] = [60, 5]

/** A folder that is out of date may differ in thousands of lines. */
function withoutMiddle(lines: readonly string[]): string {
  const left = lines.length - firstLines - lastLines
  if (left <= 1) return lines.join('\n')
  return [...lines.slice(0, firstLines), `... ${left} more lines ...`, ...lines.slice(-lastLines)].join('\n')
}
