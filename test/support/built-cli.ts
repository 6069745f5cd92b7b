import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Command } from '../../compiler/commands/command.ts'
import { runCommand } from './command.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** The command line as it was built. */
export const builtCli = fileURLToPath(new URL('../../dist/compiler/cli.js', import.meta.url))

/** Runs the built command line in a process of its own, as a user does. */
export const runBuilt = (args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', ...environment }
    execFile(process.execPath, [builtCli, ...args], { env, timeout: 100_000 }, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr })
    })
  })

/** The same by a command's source in this process, which takes a fraction of the time. */
export async function runHere(
  command: Command,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const { exitCode, printed, noted } = await runCommand([command], args, { environment })
  return { exitCode, stdout: written(printed), stderr: written(noted) }
}

const written = (lines: string): string => (lines === '' ? '' : `${lines}\n`)
